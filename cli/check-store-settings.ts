import { type Platform, storeNames } from '../lib/foundation/platform.ts';
import { selectEmulator } from '../lib/foundation/service.ts';
import { createStopwatch } from '../lib/foundation/stopwatch.ts';
import { loadStore } from '../lib/stores/index.ts';
import { selectOperations } from '../lib/stores/operation-table.ts';
import { createRecordedFetch } from '../lib/stores/recorded-fetch.ts';
import { getService } from './get-service.ts';

/**
 * Checks the settings of a store and returns the result as a sentence. Throws `InvalidPayload` for invalid settings and
 * `InternalError` for settings that the store rejects.
 */
export async function checkStoreSettings(
  appName: string,
  platform: Platform,
  { settings, callStore }: { settings: unknown; callStore: boolean },
): Promise<string> {
  const service = getService();
  const { now } = service;
  const emulator = selectEmulator(service.emulator, appName);
  const { checkSettings } = await loadStore(platform);
  const stopwatch = createStopwatch(emulator.timeFactor);
  const fetch = createRecordedFetch({
    storeName: storeNames[platform],
    record: () => {},
    now,
    stopwatch,
    ...(emulator.url && { storesUrl: emulator.url }),
  });
  const { runOnce } = selectOperations(service, appName, platform);
  return await checkSettings(
    { appName, settings, fetch, now, stopwatch, runOnce, extraRoots: emulator.roots },
    { callStore },
  );
}
