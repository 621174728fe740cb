import type { AppCache } from '../apps/app-cache.ts';
import type { StripePlatform } from '../stores/stripe/mapping-context.ts';

/** Selects the account that an app sells through: the deployment's account if only that is configured, else the app's own. */
export async function selectCheckoutPlatform(
  appName: string,
  { findStoreSettings }: Pick<AppCache, 'findStoreSettings'>,
): Promise<StripePlatform> {
  if ((await findStoreSettings(appName, 'processor_a')) !== undefined) return 'processor_a';
  return (await findStoreSettings(appName, 'service_processor_a')) === undefined
    ? 'processor_a'
    : 'service_processor_a';
}

/** Lists the configured accounts that an app can have sold through. The app's own account comes first. */
export async function listCheckoutPlatforms(
  appName: string,
  appCache: Pick<AppCache, 'findStoreSettings'>,
): Promise<readonly StripePlatform[]> {
  const platform = await selectCheckoutPlatform(appName, appCache);
  const hasServiceAccount =
    platform === 'processor_a' && (await appCache.findStoreSettings(appName, 'service_processor_a')) !== undefined;
  return hasServiceAccount ? [platform, 'service_processor_a'] : [platform];
}
