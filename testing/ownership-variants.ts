import type { Platform } from '../lib/foundation/platform.ts';

/** Kind of a purchase of a random history; `plain` is one unit of one product. */
export type Variant =
  | 'plain'
  | 'lines'
  | 'seats'
  | 'commitment'
  | 'prepaid'
  | 'installments'
  | 'emailed'
  | 'backdated'
  | 'free cycles';

/** The variants of subscriptions that each store sells. */
export const variantsByPlatform: Readonly<Partial<Record<Platform, readonly Variant[]>>> = {
  store_a: ['seats', 'commitment'],
  store_b: ['lines', 'prepaid', 'installments'],
  processor_a: ['lines', 'emailed', 'backdated'],
  service_processor_a: ['lines', 'emailed'],
  processor_b: ['free cycles'],
};

/** Ids of the products after the first. */
export interface LineProducts {
  readonly bought: string;
  /** Added later. */
  readonly added: string;
}

/** Seats at two prices. */
const tiers = [
  { priceMicros: 5_000_000, quantity: 1 },
  { priceMicros: 4_000_000, quantity: 2 },
];

/** Returns the members of an order with the variant. */
export function buildVariantOrder(platform: Platform, variant: Variant, { bought }: LineProducts): object {
  if (variant === 'lines') {
    const lines = [{ productId: bought, priceMicros: 2_000_000 }];
    return platform === 'store_b' ? { addOns: lines } : { items: lines };
  }
  if (variant === 'seats') return { seats: 3, seatTiers: tiers };
  if (variant === 'commitment') return { commitment: true };
  if (variant === 'installments') return { installments: 3 };
  if (variant === 'emailed') return { collection: 'send_invoice', daysUntilDue: 5 };
  if (variant === 'backdated') return { backdate: 'P2M' };
  if (variant === 'free cycles') return { freeCycles: 1 };
  return variant === 'prepaid' ? { prepaid: true } : {};
}

/** Returns the body of an action that only a variant has. */
export function buildVariantDetails(
  action: string,
  { bought, added }: LineProducts,
  applicationUsername: string,
): object {
  const details: Readonly<Record<string, object>> = {
    'add-item': { productId: added, priceMicros: 3_000_000 },
    'remove-item': { productId: bought },
    'revoke-item': { productId: bought },
    'add-seats': { quantity: 2 },
    'refund-seats': { quantity: 1 },
    'assign-seat': { applicationUsername },
  };
  return details[action] ?? {};
}
