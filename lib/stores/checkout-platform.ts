import { findCachedSettings } from '../apps/store-settings-table.ts';
import { platformTokens } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { StripePlatform } from './stripe/mapping-context.ts';

/**
 * Selects the account that an app sells through: the deployment's account if only that is configured, else the app's
 * own.
 */
export async function selectCheckoutPlatform(service: Service, appName: string): Promise<StripePlatform> {
  if ((await findCachedSettings(service, appName, platformTokens.stripe)) !== undefined) return platformTokens.stripe;
  return (await findCachedSettings(service, appName, platformTokens.serviceStripe)) === undefined
    ? platformTokens.stripe
    : platformTokens.serviceStripe;
}

/** Lists the configured accounts that an app can have sold through. The app's own account comes first. */
export async function listCheckoutPlatforms(
  service: Service,
  appName: string,
): Promise<readonly [StripePlatform, StripePlatform?]> {
  const platform = await selectCheckoutPlatform(service, appName);
  const hasServiceAccount =
    platform === platformTokens.stripe &&
    (await findCachedSettings(service, appName, platformTokens.serviceStripe)) !== undefined;
  return hasServiceAccount ? [platform, platformTokens.serviceStripe] : [platform];
}
