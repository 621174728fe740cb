import type { StoreContext } from '../store-context.ts';
import { createApiToken } from './api-token.ts';
import { type AppStoreServerApi, createAppStoreServerApi } from './app-store-server-api.ts';
import { type AppStoreSettings, getApiKey } from './settings.ts';

/**
 * Creates an App Store Server API client with the app's key. Returns undefined if the settings contain no key. Throws
 * `InternalError` if the key is unusable.
 */
export async function connectAppStore(
  settings: AppStoreSettings,
  { fetch, now }: Pick<StoreContext, 'fetch' | 'now'>,
): Promise<AppStoreServerApi | undefined> {
  const key = getApiKey(settings);
  return key && createAppStoreServerApi(fetch, await createApiToken(key, settings.bundleId, now()));
}
