import type { ProductType } from '../../api/schemas.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { StoreContext } from '../store-context.ts';
import type { CartItem } from './cart.ts';
import { parseStoredSettings } from './settings.ts';

/** Data that Braintree's objects do not contain. */
export interface MappingContext {
  readonly productId: string;
  /** The products of a cart, `productId` first. Undefined if the payment is for this product alone. */
  readonly items?: readonly CartItem[] | undefined;
  /** Types by product id. A product that is not in the catalogue any longer is missing. */
  readonly productTypes: Readonly<Record<string, ProductType>>;
  /** Plans of the subscriptions in the catalogue, by product id. Without them, a purchase keeps its product. */
  readonly planIds?: Readonly<Record<string, string>>;
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
  purchase: Pick<MappingContext, 'productId' | 'items' | 'customerId' | 'asOf'>,
): MappingContext {
  const { catalogue, environment, graceDays, timeZone } = parseStoredSettings(settings);
  return {
    ...purchase,
    productTypes: Object.fromEntries(Object.entries(catalogue).map(([id, { type }]) => [id, type])),
    planIds: Object.fromEntries(
      Object.entries(catalogue).flatMap(([id, { planId }]) => (planId === undefined ? [] : [[id, planId]])),
    ),
    sandbox: environment !== 'production',
    timeZone,
    graceMs: graceDays * dayMs,
  };
}

/** Returns the members of a refresh token that Braintree's objects do not contain. */
export const toTokenMembers = ({ productId, items, customerId }: MappingContext) => ({
  productId,
  ...(items && { items: JSON.stringify(items) }),
  ...(customerId !== undefined && { customerId }),
});
