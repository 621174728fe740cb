import type { AppCache } from '../apps/app-cache.ts';
import { platformTokens } from '../shared/platform.ts';
import type { StripePlatform } from './stripe/mapping-context.ts';

/**
 * Selects the account that an app sells through: the deployment's account if only that is configured, else the app's
 * own.
 */
export async function selectCheckoutPlatform(
  appName: string,
  { findStoreSettings }: Pick<AppCache, 'findStoreSettings'>,
): Promise<StripePlatform> {
  if ((await findStoreSettings(appName, platformTokens.stripe)) !== undefined) return platformTokens.stripe;
  return (await findStoreSettings(appName, platformTokens.serviceStripe)) === undefined
    ? platformTokens.stripe
    : platformTokens.serviceStripe;
}

/** Lists the configured accounts that an app can have sold through. The app's own account comes first. */
export async function listCheckoutPlatforms(
  appName: string,
  appCache: Pick<AppCache, 'findStoreSettings'>,
): Promise<readonly [StripePlatform, StripePlatform?]> {
  const platform = await selectCheckoutPlatform(appName, appCache);
  const hasServiceAccount =
    platform === platformTokens.stripe &&
    (await appCache.findStoreSettings(appName, platformTokens.serviceStripe)) !== undefined;
  return hasServiceAccount ? [platform, platformTokens.serviceStripe] : [platform];
}
