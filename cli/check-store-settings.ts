import { createRunOnce } from '../lib/db/idempotency.ts';
import { deps } from '../lib/deps.ts';
import { createRecordedFetch } from '../lib/stores/recorded-fetch.ts';
import type { Platform } from '../lib/purchases/platform.ts';

/**
 * What the store says of the settings, in a sentence. Throws `InvalidPayload` for settings of the wrong form and
 * `InternalError` for those that the store refuses.
 */
export async function checkStoreSettings(
  app: string,
  platform: Platform,
  { settings, askStore }: { settings: unknown; askStore: boolean },
): Promise<string> {
  const { emulator, now, loadStore: store, table } = deps();
  const { checkSettings } = await store(platform);
  const fetch = createRecordedFetch({ record: () => {}, now, ...(emulator.url && { storesUrl: emulator.url }) });
  const runOnce = createRunOnce(table, { app, platform, now });
  return await checkSettings({ appName: app, settings, fetch, now, runOnce, extraRoots: emulator.roots }, { askStore });
}
