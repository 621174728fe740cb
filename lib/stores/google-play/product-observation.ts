import { findCatalogueProduct } from '../../apps/catalogue.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import { type EpochMillis, secondMs } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isUnpaid, type Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import type { ValidationRequest } from '../store.ts';
import { type KnownPurchase, toPurchaseId, toRefreshToken } from './known-purchases.ts';
import type { MappingContext } from './mapping-context.ts';
import { toAmount, toReportedAmount } from './money.ts';
import { findLineProceeds, findLineTax, findLineTotal, listDefined } from './order-lines.ts';
import { getProductRefunds, getRefundDate } from './order-refunds.ts';
import type { OneTimePurchase, Order } from './payloads.ts';
import { isRental } from './rental.ts';

/** Input to the mapping of a one-time purchase, in addition to the purchase. */
export interface ProductContext extends MappingContext {
  /** End of each rental by product, if its purchase option is readable. */
  readonly rentalEnds: ReadonlyMap<string, EpochMillis>;
}

const toPrefixedId = (native: string): string => withPlatform(platformTokens.googlePlay, native);

/** Converts a one-time purchase to one observation for each of its products. */
export function toProductObservations(oneTimePurchase: OneTimePurchase, context: ProductContext): Observation[] {
  return oneTimePurchase.productLineItem.map((item) => {
    const { productId } = item;
    const order = context.orders.get(productId);
    const state = oneTimePurchase.purchaseStateContext?.purchaseState;
    const purchaseId = context.purchaseIds.get(productId) ?? toPurchaseId(context.token, productId);
    const knownEnd = context.known.get(purchaseId)?.purchase.endedAt;
    const endedAt =
      state === 'CANCELLED' ? findProductEnd(oneTimePurchase, order, { ...context, knownEnd }) : undefined;
    const isAbandoned = endedAt !== undefined && wasNeverPaid(oneTimePurchase, order, context.known.get(purchaseId));
    const purchase = toProductPurchase(oneTimePurchase, item, { ...context, purchaseId, endedAt, isAbandoned });
    const isPaid = state !== 'PENDING' && !isAbandoned;
    const { regionCode: storefront, orderId } = oneTimePurchase;
    return {
      asOf: context.now,
      ...(!order && endedAt === undefined && { hasInferredTransactions: true }),
      purchase,
      transactions: isPaid
        ? [toProductTransaction(purchase, context, { order, endedAt, storefront, hasOrder: orderId !== undefined })]
        : [],
      userAliases: listDefined([
        oneTimePurchase.obfuscatedExternalAccountId,
        oneTimePurchase.obfuscatedExternalProfileId,
      ]),
      refreshToken: toRefreshToken(context.token, purchase.productType ?? 'product', productId),
    };
  });
}

/**
 * A canceled purchase that ended before it was paid lacks its completion time. The older API reports a time for every
 * purchase, so the stored state decides, or the order of an unknown purchase.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
 */
const wasNeverPaid = (
  { purchaseCompletionTime }: OneTimePurchase,
  order: Order | undefined,
  known: KnownPurchase | undefined,
): boolean => purchaseCompletionTime === undefined || (known ? isUnpaid(known.purchase) : order?.state === 'CANCELED');

type ProductItem = OneTimePurchase['productLineItem'][number];

function toProductPurchase(
  oneTimePurchase: OneTimePurchase,
  item: ProductItem,
  context: ProductContext & {
    readonly purchaseId: string;
    readonly endedAt: EpochMillis | undefined;
    readonly isAbandoned: boolean;
  },
): Purchase {
  const { productId: nativeProductId, productOfferDetails: details = {} } = item;
  const { token, purchaseId, endedAt, isAbandoned } = context;
  const productId = toPrefixedId(nativeProductId);
  const offer = details.offerId ?? details.purchaseOptionId;
  const expirationDate = context.rentalEnds.get(nativeProductId);
  return {
    purchaseId,
    transactionId: toPrefixedId(oneTimePurchase.orderId ?? token),
    productId,
    platform: platformTokens.googlePlay,
    sandbox: oneTimePurchase.testPurchaseContext !== undefined,
    isAcknowledged: oneTimePurchase.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
    isConsumed: details.consumptionState === 'CONSUMPTION_STATE_CONSUMED',
    quantity: details.quantity ?? 1,
    ...omitUndefined({
      productType: findProductType(item, context),
      expirationDate,
      offerId: offer === undefined ? undefined : `${productId}#${offer}`,
      purchaseDate: oneTimePurchase.purchaseCompletionTime,
      isPending: oneTimePurchase.purchaseStateContext?.purchaseState === 'PENDING' || undefined,
      isAbandoned: isAbandoned || undefined,
      endedAt,
      cancelationReason: endedAt === undefined ? undefined : ('Unknown' as const),
      discountId: details.offerId,
    }),
  };
}

/**
 * Finds the type of a one-time product. Google Play reports only that a product was rented or consumed, so the
 * catalogue decides, then the type that was stored first. The type in a request has the lowest precedence, and only for
 * the requested product: a client must not turn a product into a consumable.
 */
function findProductType(
  item: ProductItem,
  { hints, known, catalogue, purchaseId }: MappingContext & { readonly purchaseId: string },
): Purchase['productType'] {
  if (isRental(item)) return 'non renewing subscription';
  const productId = toPrefixedId(item.productId);
  const ownType = findCatalogueProduct(catalogue, productId)?.type ?? known.get(purchaseId)?.purchase.productType;
  if (ownType !== undefined) return toOneTimeType(ownType);
  if (item.productOfferDetails?.consumptionState === 'CONSUMPTION_STATE_CONSUMED') return 'consumable';
  return hints && toPrefixedId(hints.id) === productId ? toOneTimeType(hints.type) : undefined;
}

/** Returns the type unless it is of a subscription or app, which a one-time purchase cannot be. */
const toOneTimeType = (type: ValidationRequest['type']): Purchase['productType'] =>
  type === 'consumable' || type === 'non renewing subscription' ? type : 'non consumable';

interface PaymentFacts {
  readonly order: Order | undefined;
  readonly endedAt: EpochMillis | undefined;
  readonly storefront: string | undefined;
  /**
   * Google Play makes no order for a promotion code.
   * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2
   */
  readonly hasOrder: boolean;
}

function toProductTransaction(
  purchase: Purchase,
  { now, hints }: ProductContext,
  { order, endedAt, storefront, hasOrder }: PaymentFacts,
): Transaction {
  const price = hints && toPrefixedId(hints.id) === purchase.productId ? hints : {};
  const productId = withoutPlatform(purchase.productId);
  const refunds = getProductRefunds(order, productId);
  const total = order && findLineTotal(order, productId);
  return {
    ...pickSharedFields(purchase),
    purchaseDate: purchase.purchaseDate ?? now,
    ...omitUndefined({
      offerId: purchase.offerId,
      quantity: purchase.quantity,
      expirationDate: purchase.expirationDate,
      partialRefunds: refunds.partialRefunds,
      refundedAt: refunds.refundedAt ?? endedAt,
      storefront,
    }),
    ...(order && findLineTax(order, productId)),
    ...(order && findLineProceeds(order, productId)),
    ...(total ? toAmount(total) : hasOrder ? toReportedAmount(price, purchase.quantity ?? 1) : toFreeAmount(price)),
  };
}

const toFreeAmount = ({ currency }: Pick<ValidationRequest, 'currency'>) =>
  omitUndefined({ currency, amountMicros: 0 });

/**
 * Finds the time of a cancellation, which only the order has. Without it, the stored end counts, then the notification.
 * The purchase date comes last: it is the same in every query. A stored end at that date is unknown.
 */
function findProductEnd(
  { purchaseCompletionTime }: OneTimePurchase,
  order: Order | undefined,
  {
    now,
    endNotifiedAt,
    knownEnd,
  }: Pick<MappingContext, 'now' | 'endNotifiedAt'> & { knownEnd: EpochMillis | undefined },
): EpochMillis {
  const storedEnd = knownEnd === purchaseCompletionTime ? undefined : knownEnd;
  const endedAt = getRefundDate(order) ?? order?.lastEventTime ?? storedEnd ?? endNotifiedAt ?? purchaseCompletionTime;
  return Math.min(endedAt ?? now, now - secondMs);
}
