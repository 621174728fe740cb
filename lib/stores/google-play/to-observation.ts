import { findCatalogueProduct } from '../../purchases/catalogue.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isUnpaid, type Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../shared/platform.ts';
import { type EpochMillis, secondMs } from '../../shared/time.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import type { ValidationRequest } from '../store.ts';
import type { KnownPurchase } from './known-purchases.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { toAmount, toReportedAmount } from './money.ts';
import { getRefundDate, listPartialRefunds } from './order-refunds.ts';
import { getPaidPeriod, parseRenewalNumber } from './paid-period.ts';
import type { LineItem, OneTimePurchase, Order, Subscription } from './payloads.ts';
import { hasOutstandingPayment, toSubscriptionState } from './subscription-state.ts';

const toPrefixedId = (native: string): string => withPlatform(platformTokens.googlePlay, native);

/** Builds the ids of the purchases of a token: the first product has the token's id, the others add their product. */
export const toPurchaseIds = (token: string, products: readonly { readonly productId: string }[]): string[] =>
  products.map(({ productId }, index) => toPrefixedId(index === 0 ? token : `${token}:${productId}`));

/** Lists the owned line items. If there are several, one without an order is a deferred replacement. */
export const listOwnedItems = ({ lineItems }: Subscription): readonly LineItem[] =>
  lineItems.length > 1 ? lineItems.filter(({ latestSuccessfulOrderId }) => latestSuccessfulOrderId) : lineItems;

/** Returns the latest paid order of a line item; undefined before the first payment. */
export const findPaidOrderId = (subscription: Subscription, item: LineItem): string | undefined =>
  item.latestSuccessfulOrderId ?? (hasOutstandingPayment(subscription) ? undefined : subscription.latestOrderId);

/**
 * Converts a subscription to one observation for each owned line item. A subscription that was resumed in the Play
 * Store app names the expired one.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#OutOfAppPurchaseContext
 */
export function toSubscriptionObservations(subscription: Subscription, context: MappingContext): Observation[] {
  const linkedToken = subscription.linkedPurchaseToken ?? subscription.outOfAppPurchaseContext?.expiredPurchaseToken;
  const items = listOwnedItems(subscription);
  const purchaseIds = toPurchaseIds(context.token, items);
  return items.map((item, index) => {
    const purchaseId = purchaseIds[index] as string;
    const purchase = toSubscriptionPurchase(subscription, item, { ...context, purchaseId });
    return {
      asOf: context.now,
      ...(!context.orders.has(item.productId) && { hasInferredTransactions: true }),
      purchase,
      transactions: toSubscriptionTransactions(subscription, item, { ...context, purchase }),
      userAliases: listUserAliases(subscription),
      // Also set while the payment is outstanding: claims are copied only when the purchase is created.
      ...(linkedToken && index === 0 && { replacedPurchaseId: toPrefixedId(linkedToken) }),
      refreshToken: { purchaseToken: context.token, kind: 'subscription' },
    };
  });
}

function toSubscriptionPurchase(
  subscription: Subscription,
  item: LineItem,
  { token, now, purchaseId, orders, known }: MappingContext & { readonly purchaseId: string },
): Purchase {
  const orderId = findPaidOrderId(subscription, item);
  const isRenewal = parseRenewalNumber(orderId) !== undefined;
  const productId = toPrefixedId(item.productId);
  return {
    purchaseId,
    transactionId: toPrefixedId(orderId ?? token),
    productId,
    platform: platformTokens.googlePlay,
    productType: 'paid subscription',
    sandbox: subscription.testPurchase !== undefined,
    ...omitUndefined({
      offerId: toOfferId(productId, item.offerDetails ?? {}),
      purchaseDate: subscription.startTime,
      lastRenewalDate: isRenewal ? orders.get(item.productId)?.createTime : undefined,
    }),
    ...toSubscriptionState(subscription, item, { now, known: known.get(purchaseId)?.purchase }),
  };
}

function toSubscriptionTransactions(
  subscription: Subscription,
  item: LineItem,
  context: MappingContext & { readonly purchase: Purchase },
): Transaction[] {
  const { orders, purchase } = context;
  const orderId = findPaidOrderId(subscription, item);
  if (orderId === undefined && hasOutstandingPayment(subscription)) return [];
  const order = orders.get(item.productId);
  return [
    {
      ...pickSharedFields(purchase),
      ...getPaidPeriod({ subscription, item, order, orderId }, context),
      ...omitUndefined({
        offerId: purchase.offerId,
        isTrialPeriod: purchase.isTrialPeriod,
        isIntroPeriod: purchase.isIntroPeriod,
        partialRefunds: listPartialRefunds(order),
        refundedAt: getRefundDate(order),
      }),
      ...toSubscriptionAmount(item, order),
    },
  ];
}

/** Uses the order's total, otherwise the plan's price at full price and zero in a trial. */
function toSubscriptionAmount(
  { offerPhase = {}, autoRenewingPlan }: LineItem,
  order: Order | undefined,
): Pick<Transaction, 'currency' | 'amountMicros'> {
  const { freeTrial, introductoryPrice, prorationPeriod } = offerPhase;
  const price = autoRenewingPlan?.recurringPrice;
  const isFullPrice = !freeTrial && !introductoryPrice && !prorationPeriod;
  const amount = order?.total ?? (isFullPrice ? price : undefined);
  if (amount) return toAmount(amount);
  return freeTrial && price?.currencyCode ? { currency: price.currencyCode, amountMicros: 0 } : {};
}

/** Converts a one-time purchase to one observation for each of its products. */
export function toProductObservations(oneTimePurchase: OneTimePurchase, context: MappingContext): Observation[] {
  const purchaseIds = toPurchaseIds(context.token, oneTimePurchase.productLineItem);
  return oneTimePurchase.productLineItem.map((item, index) => {
    const { productId } = item;
    const order = context.orders.get(productId);
    const state = oneTimePurchase.purchaseStateContext?.purchaseState;
    const purchaseId = purchaseIds[index] as string;
    const knownEnd = context.known.get(purchaseId)?.purchase.endedAt;
    const endedAt =
      state === 'CANCELLED' ? findProductEnd(oneTimePurchase, order, { ...context, knownEnd }) : undefined;
    const isAbandoned = endedAt !== undefined && wasNeverPaid(oneTimePurchase, order, context.known.get(purchaseId));
    const purchase = toProductPurchase(oneTimePurchase, item, { ...context, purchaseId, endedAt, isAbandoned });
    const isPaid = state !== 'PENDING' && !isAbandoned;
    return {
      asOf: context.now,
      ...(!order && endedAt === undefined && { hasInferredTransactions: true }),
      purchase,
      transactions: isPaid ? [toProductTransaction(purchase, context, { order, endedAt })] : [],
      userAliases: listDefined([
        oneTimePurchase.obfuscatedExternalAccountId,
        oneTimePurchase.obfuscatedExternalProfileId,
      ]),
      refreshToken: { purchaseToken: context.token, kind: purchase.productType ?? 'product', productId },
    };
  });
}

/**
 * Whether a canceled purchase ended before it was paid. Such a purchase lacks its completion time. The older API
 * reports a time for every purchase, so the stored state decides, or the order of an unknown purchase.
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
  { productId: nativeProductId, productOfferDetails: details = {} }: ProductItem,
  context: MappingContext & {
    readonly purchaseId: string;
    readonly endedAt: EpochMillis | undefined;
    readonly isAbandoned: boolean;
  },
): Purchase {
  const { token, purchaseId, endedAt, isAbandoned } = context;
  const productId = toPrefixedId(nativeProductId);
  const offer = details.offerId ?? details.purchaseOptionId;
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
      productType: findProductType({ productId, consumptionState: details.consumptionState }, context),
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
 * Finds the type of a one-time product. Google Play reports only that a product was consumed, so the catalogue decides,
 * then the type that was stored first. The type in a request counts last and only for the requested product: a client
 * must not turn a product into a consumable.
 */
function findProductType(
  { productId, consumptionState }: { readonly productId: string; readonly consumptionState: string | undefined },
  { hints, known, catalogue, purchaseId }: MappingContext & { readonly purchaseId: string },
): Purchase['productType'] {
  const ownType = findCatalogueProduct(catalogue, productId)?.type ?? known.get(purchaseId)?.purchase.productType;
  if (ownType !== undefined) return toOneTimeType(ownType);
  if (consumptionState === 'CONSUMPTION_STATE_CONSUMED') return 'consumable';
  return hints && toPrefixedId(hints.id) === productId ? toOneTimeType(hints.type) : undefined;
}

/** Returns the type unless it is of a subscription or app, which a one-time purchase cannot be. */
const toOneTimeType = (type: ValidationRequest['type']): Purchase['productType'] =>
  type === 'consumable' || type === 'non renewing subscription' ? type : 'non consumable';

function toProductTransaction(
  purchase: Purchase,
  { now, hints }: MappingContext,
  { order, endedAt }: { readonly order: Order | undefined; readonly endedAt: EpochMillis | undefined },
): Transaction {
  const isRequestedProduct = hints !== undefined && toPrefixedId(hints.id) === purchase.productId;
  return {
    ...pickSharedFields(purchase),
    purchaseDate: purchase.purchaseDate ?? now,
    ...omitUndefined({
      offerId: purchase.offerId,
      quantity: purchase.quantity,
      partialRefunds: listPartialRefunds(order),
      refundedAt: getRefundDate(order) ?? endedAt,
    }),
    ...(order?.total
      ? toAmount(order.total)
      : toReportedAmount(isRequestedProduct ? hints : {}, purchase.quantity ?? 1)),
  };
}

/**
 * Finds the time of a cancellation, which only the order has. Without it, the stored end counts, then the notification.
 * The purchase date comes last: it is the same in every query.
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
  const endedAt = getRefundDate(order) ?? order?.lastEventTime ?? knownEnd ?? endNotifiedAt ?? purchaseCompletionTime;
  return Math.min(endedAt ?? now, now - secondMs);
}

const listUserAliases = ({ externalAccountIdentifiers, outOfAppPurchaseContext }: Subscription): string[] =>
  listDefined(
    [externalAccountIdentifiers, outOfAppPurchaseContext?.expiredExternalAccountIdentifiers].flatMap((identifiers) => [
      identifiers?.obfuscatedExternalAccountId,
      identifiers?.obfuscatedExternalProfileId,
    ]),
  );

const listDefined = (values: readonly (string | undefined)[]): string[] =>
  values.filter((value) => value !== undefined);
