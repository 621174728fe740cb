import { type Platform, storeNames } from '../lib/shared/platform.ts';
import { createStopwatch } from '../lib/shared/stopwatch.ts';
import { selectEmulator } from '../lib/shared/store-emulator.ts';
import { createRecordedFetch } from '../lib/stores/recorded-fetch.ts';
import { deps } from './deps.ts';

/**
 * Checks the settings of a store and returns the result as a sentence. Throws `InvalidPayload` for invalid settings and
 * `InternalError` for settings that the store rejects.
 */
export async function checkStoreSettings(
  appName: string,
  platform: Platform,
  { settings, callStore }: { settings: unknown; callStore: boolean },
): Promise<string> {
  const { now, loadStore, operations } = deps();
  const emulator = selectEmulator(deps().emulator, appName);
  const { checkSettings } = await loadStore(platform);
  const stopwatch = createStopwatch(emulator.timeFactor);
  const fetch = createRecordedFetch({
    storeName: storeNames[platform],
    record: () => {},
    now,
    stopwatch,
    ...(emulator.url && { storesUrl: emulator.url }),
  });
  const { runOnce } = operations.select(appName, platform);
  return await checkSettings(
    { appName, settings, fetch, now, stopwatch, runOnce, extraRoots: emulator.roots },
    { callStore },
  );
}
