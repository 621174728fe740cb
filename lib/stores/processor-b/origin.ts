import type { Millis, ProductType } from '../../purchases/purchase.ts';
import type { Asking } from '../store.ts';
import { settingsOf } from './settings.ts';

/** A day in milliseconds. */
export const day = 24 * 60 * 60 * 1000;

/** What the processor's objects do not tell of a purchase. */
export interface Origin {
  readonly productId: string;
  /** Absent when the product has left the catalogue. */
  readonly productType?: ProductType;
  readonly customerId: string;
  readonly sandbox: boolean;
  readonly graceMs: number;
  /** When the processor was asked. */
  readonly at: Millis;
}

/** The origin of what was sold as `productId`. */
export function originOf(
  { settings }: Pick<Asking, 'settings'>,
  sold: { readonly productId: string; readonly customerId: string; readonly at: Millis },
): Origin {
  const { catalogue, environment, graceDays } = settingsOf(settings);
  const product = Object.hasOwn(catalogue, sold.productId) ? catalogue[sold.productId] : undefined;
  return {
    ...sold,
    ...(product && { productType: product.type }),
    sandbox: environment !== 'production',
    graceMs: graceDays * day,
  };
}
