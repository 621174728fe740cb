import type { ProductType } from '../../api/enumerations.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import { parseStoredSettings } from './settings.ts';

/** A day in milliseconds. */
export const dayMs = 24 * 60 * 60 * 1000;

/** What the processor's objects do not tell of a purchase. */
export interface MappingContext {
  readonly productId: string;
  /** Absent when the product has left the catalogue. */
  readonly productType?: ProductType;
  readonly customerId: string;
  readonly sandbox: boolean;
  readonly graceMs: number;
  /** When the processor was asked. */
  readonly at: EpochMillis;
}

/** The origin of what was sold as `productId`. */
export function createMappingContext(
  { settings }: Pick<StoreContext, 'settings'>,
  sold: { readonly productId: string; readonly customerId: string; readonly at: EpochMillis },
): MappingContext {
  const { catalogue, environment, graceDays } = parseStoredSettings(settings);
  const product = Object.hasOwn(catalogue, sold.productId) ? catalogue[sold.productId] : undefined;
  return {
    ...sold,
    ...(product && { productType: product.type }),
    sandbox: environment !== 'production',
    graceMs: graceDays * dayMs,
  };
}
