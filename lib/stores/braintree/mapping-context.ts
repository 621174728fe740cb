import type { ProductType } from '../../api/enumerations.ts';
import { dayMs, type EpochMillis } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import { parseStoredSettings } from './settings.ts';

/** Data that Braintree's objects do not contain. */
export interface MappingContext {
  readonly productId: string;
  /** Undefined if the product is not in the catalogue any longer. */
  readonly productType?: ProductType;
  /** Customer in Braintree's vault. Undefined if Braintree has not stored the payment method. */
  readonly customerId?: string | undefined;
  readonly sandbox: boolean;
  /** Time zone of Braintree's dates. */
  readonly timeZone: string;
  /** Length of access after a failed renewal payment. */
  readonly graceMs: number;
  /** Time of the request to Braintree. */
  readonly asOf: EpochMillis;
}

/** Creates the mapping context of a purchase. */
export function createMappingContext(
  { settings }: Pick<StoreContext, 'settings'>,
  purchase: Pick<MappingContext, 'productId' | 'customerId' | 'asOf'>,
): MappingContext {
  const { catalogue, environment, graceDays, timeZone } = parseStoredSettings(settings);
  const product = Object.hasOwn(catalogue, purchase.productId) ? catalogue[purchase.productId] : undefined;
  return {
    ...purchase,
    ...(product && { productType: product.type }),
    sandbox: environment !== 'production',
    timeZone,
    graceMs: graceDays * dayMs,
  };
}

/** Returns the members of a refresh token that Braintree's objects do not contain. */
export const toTokenMembers = ({ productId, customerId }: MappingContext) => ({
  productId,
  ...(customerId !== undefined && { customerId }),
});
