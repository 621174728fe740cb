import type Stripe from 'stripe';
import { withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import { dayMs } from '../../foundation/time.ts';
import type { StoreContext } from '../store-context.ts';
import type { MappingContext, StripePlatform } from './mapping-context.ts';
import { parseStoredSettings } from './settings.ts';
import { createStripeClient } from './stripe-client.ts';

/** A Stripe client and the context for mapping its objects. */
export interface StripeAccount {
  readonly stripe: Stripe;
  readonly mapping: MappingContext;
  /** Returns the product of the stored purchase with an id of Stripe, both without platform prefix. */
  readonly findStoredProductId: (purchaseId: string) => Promise<string | undefined>;
}

/** Creates the client of the account in the settings, for one operation of the app. */
export function openStripeAccount(
  platform: StripePlatform,
  context: Pick<StoreContext, 'appName' | 'settings' | 'fetch' | 'now' | 'stopwatch' | 'findPurchase'>,
): StripeAccount {
  const { graceDays } = parseStoredSettings(context.settings, platform);
  return {
    stripe: createStripeClient(context),
    mapping: { platform, appName: context.appName, graceMs: graceDays * dayMs, now: context.now() },
    findStoredProductId: async (purchaseId) => {
      const stored = await context.findPurchase?.(withPlatform(platform, purchaseId));
      return stored && withoutPlatform(stored.productId);
    },
  };
}
