import type { Catalogue } from '../../apps/catalogue.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { ValidationRequest } from '../store.ts';
import type { TokenPurchases } from './known-purchases.ts';
import type { Order } from './payloads.ts';

/** The part of a request that completes what Google Play does not report about a product. */
export type RequestHints = Pick<ValidationRequest, 'id' | 'type' | 'priceMicros' | 'currency'>;

/** A notification of a renewal or a recovery from account hold or a pause. */
export interface PaymentNotification {
  readonly occurredAt: EpochMillis;
  readonly isRecovery: boolean;
}

/** Input to the mapping from a Google Play purchase to observations, in addition to the purchase. */
export interface MappingContext extends TokenPurchases {
  readonly token: string;
  readonly now: EpochMillis;
  /** The latest order of each product id, if Google Play returned it. */
  readonly orders: ReadonlyMap<string, Order>;
  readonly hints: RequestHints | undefined;
  readonly catalogue?: Catalogue;
  /** The notification of a payment that caused the query. */
  readonly paymentNotification?: PaymentNotification;
  /** Time of the notification that a one-time purchase ended. */
  readonly endNotifiedAt?: EpochMillis;
}

interface OfferDetails {
  readonly basePlanId?: string | undefined;
  readonly offerId?: string | undefined;
}

/** Builds `<product>#<base plan>[@<offer>]` from a prefixed product id; undefined without a base plan. */
export const toOfferId = (productId: string, { basePlanId, offerId }: OfferDetails): string | undefined =>
  basePlanId ? `${productId}#${basePlanId}${offerId ? `@${offerId}` : ''}` : undefined;
