import type { Move } from './mover.ts';

/** A purchase of another service, from an export or its API. */
interface MovedPurchase {
  readonly store: string;
  /** Id in the list of what cannot be moved. */
  readonly id: string;
  /** Id at the App Store or Stripe. */
  readonly storeId: string;
  /** Order of Google Play, which leads to the purchase token. */
  readonly orderId: string;
  readonly isSandbox: boolean;
  readonly productId?: string | undefined;
  readonly owner: { readonly user?: string };
}

const appleStores: ReadonlySet<string> = new Set(['app_store', 'mac_app_store']);

/** Builds the row of a purchase, or the reason against a move. */
export function toStoreMove(purchase: MovedPurchase): Move {
  const { store, id, storeId, orderId, isSandbox, productId, owner } = purchase;
  if (appleStores.has(store)) {
    const sandbox = isSandbox ? 'true' : 'false';
    return { row: { platform: 'store_a', originalTransactionId: storeId, sandbox, ...owner } };
  }
  if (store === 'play_store') {
    const product = productId === undefined ? {} : { productId };
    return { row: { platform: 'store_b', ...product, ...owner }, orderId };
  }
  if (store === 'stripe') return { row: { platform: 'processor_a', token: storeId, ...owner } };
  return { id, reason: `The service does not support the store ${store || 'of the record'}.` };
}
