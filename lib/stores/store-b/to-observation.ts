import { findCatalogueProduct } from '../../purchases/catalogue.ts';
import { toInferredAsOf } from '../../purchases/merge-transactions.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import { type EpochMillis, secondMs } from '../../shared/time.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { toAmount, toReportedAmount } from './money.ts';
import { getRefundDate } from './past-orders.ts';
import type { LineItem, OneTimePurchase, Order, Subscription } from './payloads.ts';
import { hasOutstandingPayment, toSubscriptionState } from './subscription-state.ts';

const toPrefixedId = (native: string): string => withPlatform('store_b', native);

/** Builds the ids of the purchases of a token: the first product has the token's id, the others add their product. */
export const toPurchaseIds = (token: string, products: readonly { readonly productId: string }[]): string[] =>
  products.map(({ productId }, index) => toPrefixedId(index === 0 ? token : `${token}:${productId}`));

/** Lists the owned line items. If there are several, one without an order is a deferred replacement. */
export const listOwnedItems = ({ lineItems }: Subscription): readonly LineItem[] =>
  lineItems.length > 1 ? lineItems.filter(({ latestSuccessfulOrderId }) => latestSuccessfulOrderId) : lineItems;

/** Returns the latest paid order of a line item; undefined before the first payment. */
export const findPaidOrderId = (subscription: Subscription, item: LineItem): string | undefined =>
  item.latestSuccessfulOrderId ?? (hasOutstandingPayment(subscription) ? undefined : subscription.latestOrderId);

/** Converts a subscription to one observation for each owned line item. */
export function toSubscriptionObservations(subscription: Subscription, context: MappingContext): Observation[] {
  const { linkedPurchaseToken } = subscription;
  const items = listOwnedItems(subscription);
  const purchaseIds = toPurchaseIds(context.token, items);
  return items.map((item, index) => {
    const purchaseId = purchaseIds[index] as string;
    const purchase = toSubscriptionPurchase(subscription, item, { ...context, purchaseId });
    return {
      asOf: context.now,
      ...(!context.orders.has(item.productId) && { transactionsAsOf: toInferredAsOf(context.now) }),
      purchase,
      transactions: toSubscriptionTransactions(subscription, item, { ...context, purchase }),
      userAliases: listUserAliases(subscription),
      // Also set while the payment is outstanding: claims are copied only when the purchase is created.
      ...(linkedPurchaseToken && index === 0 && { replacedPurchaseId: toPrefixedId(linkedPurchaseToken) }),
      refreshToken: { purchaseToken: context.token, kind: 'subscription' },
    };
  });
}

function toSubscriptionPurchase(
  subscription: Subscription,
  item: LineItem,
  { token, now, purchaseId, orders }: MappingContext & { readonly purchaseId: string },
): Purchase {
  const orderId = findPaidOrderId(subscription, item);
  const isRenewal = parseRenewalNumber(orderId) !== undefined;
  const productId = toPrefixedId(item.productId);
  return {
    purchaseId,
    transactionId: toPrefixedId(orderId ?? token),
    productId,
    platform: 'store_b',
    productType: 'paid subscription',
    sandbox: subscription.testPurchase !== undefined,
    ...omitUndefined({
      offerId: toOfferId(productId, item.offerDetails ?? {}),
      purchaseDate: subscription.startTime,
      lastRenewalDate: isRenewal ? orders.get(item.productId)?.createTime : undefined,
    }),
    ...toSubscriptionState(subscription, item, now),
  };
}

function toSubscriptionTransactions(
  subscription: Subscription,
  item: LineItem,
  { now, orders, purchase }: MappingContext & { readonly purchase: Purchase },
): Transaction[] {
  const orderId = findPaidOrderId(subscription, item);
  if (orderId === undefined && hasOutstandingPayment(subscription)) return [];
  const order = orders.get(item.productId);
  return [
    {
      ...pickSharedFields(purchase),
      purchaseDate: order?.createTime ?? estimatePeriodStart(subscription, item, { orderId, now }) ?? now,
      ...omitUndefined({
        offerId: purchase.offerId,
        // During a grace period, the expiration of the line item is later than the end of the paid period.
        expirationDate: getPeriodEnd(order, item) ?? item.expiryTime,
        isTrialPeriod: purchase.isTrialPeriod,
        isIntroPeriod: purchase.isIntroPeriod,
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

const getPeriodEnd = (order: Order | undefined, { productId }: LineItem): EpochMillis | undefined =>
  order?.lineItems.find((item) => item.productId === productId)?.subscriptionDetails?.servicePeriodEndTime;

/** Converts a one-time purchase to one observation for each of its products. */
export function toProductObservations(oneTimePurchase: OneTimePurchase, context: MappingContext): Observation[] {
  const purchaseIds = toPurchaseIds(context.token, oneTimePurchase.productLineItem);
  return oneTimePurchase.productLineItem.map((item, index) => {
    const { productId } = item;
    const order = context.orders.get(productId);
    const state = oneTimePurchase.purchaseStateContext?.purchaseState;
    const endedAt = state === 'CANCELLED' ? estimateEnd(oneTimePurchase, order, context.now) : undefined;
    const purchaseId = purchaseIds[index] as string;
    const purchase = toProductPurchase(oneTimePurchase, item, { ...context, purchaseId, endedAt });
    const isPaid = state !== 'PENDING' && (endedAt === undefined || oneTimePurchase.orderId !== undefined);
    return {
      asOf: context.now,
      ...(!order && endedAt === undefined && { transactionsAsOf: toInferredAsOf(context.now) }),
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

type ProductItem = OneTimePurchase['productLineItem'][number];

function toProductPurchase(
  oneTimePurchase: OneTimePurchase,
  { productId: nativeProductId, productOfferDetails: details = {} }: ProductItem,
  context: MappingContext & { readonly purchaseId: string; readonly endedAt: EpochMillis | undefined },
): Purchase {
  const { token, purchaseId, endedAt } = context;
  const productId = toPrefixedId(nativeProductId);
  const offer = details.offerId ?? details.purchaseOptionId;
  return {
    purchaseId,
    transactionId: toPrefixedId(oneTimePurchase.orderId ?? token),
    productId,
    platform: 'store_b',
    sandbox: oneTimePurchase.testPurchaseContext !== undefined,
    isAcknowledged: oneTimePurchase.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
    isConsumed: details.consumptionState === 'CONSUMPTION_STATE_CONSUMED',
    quantity: details.quantity ?? 1,
    ...omitUndefined({
      productType: findProductType({ productId, consumptionState: details.consumptionState }, context),
      offerId: offer === undefined ? undefined : `${productId}#${offer}`,
      purchaseDate: oneTimePurchase.purchaseCompletionTime,
      isPending: oneTimePurchase.purchaseStateContext?.purchaseState === 'PENDING' || undefined,
      endedAt,
      cancelationReason: endedAt === undefined ? undefined : ('Unknown' as const),
      discountId: details.offerId,
    }),
  };
}

/**
 * Finds the type of a one-time product. Google Play reports only that a product was consumed. The catalogue takes precedence,
 * then the type that was stored first. The type in a request counts for the requested product only: a client must not turn a
 * product into a consumable.
 */
function findProductType(
  { productId, consumptionState }: { readonly productId: string; readonly consumptionState: string | undefined },
  { hints, known, catalogue, purchaseId }: MappingContext & { readonly purchaseId: string },
): Purchase['productType'] {
  const catalogueType = findCatalogueProduct(catalogue, productId)?.type;
  if (catalogueType !== undefined && catalogueType !== 'paid subscription') return catalogueType;
  const storedType = known.get(purchaseId)?.purchase.productType;
  if (storedType !== undefined) return storedType;
  if (consumptionState === 'CONSUMPTION_STATE_CONSUMED') return 'consumable';
  if (!hints || toPrefixedId(hints.id) !== productId) return undefined;
  return hints.type === 'consumable' || hints.type === 'non renewing subscription' ? hints.type : 'non consumable';
}

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
      refundedAt: getRefundDate(order) ?? endedAt,
    }),
    ...(order?.total
      ? toAmount(order.total)
      : toReportedAmount(isRequestedProduct ? hints : {}, purchase.quantity ?? 1)),
  };
}

/** Parses the number at the end of a renewal's order id: `GPA.…..0` is the first renewal. The first order lacks it. */
const parseRenewalNumber = (orderId: string | undefined): string | undefined =>
  /\.\.(\d{1,6})$/.exec(orderId ?? '')?.[1];

/**
 * Estimates the start of the current period if its order is unavailable. Assumes that all periods had the same length, so
 * the result does not depend on the time of the query.
 */
function estimatePeriodStart(
  { startTime }: Subscription,
  { expiryTime }: LineItem,
  { orderId, now }: { readonly orderId: string | undefined; readonly now: EpochMillis },
): EpochMillis | undefined {
  const renewalNumber = parseRenewalNumber(orderId);
  if (renewalNumber === undefined || startTime === undefined || expiryTime === undefined) return startTime;
  const periodCount = Number(renewalNumber) + 2;
  const start = expiryTime - Math.max(0, Math.round((expiryTime - startTime) / periodCount));
  return start <= now ? start : startTime;
}

/**
 * Estimates the time of a cancellation, which only the order has. Falls back to the purchase date, because it is the same
 * in every query.
 */
const estimateEnd = (
  { purchaseCompletionTime }: OneTimePurchase,
  order: Order | undefined,
  now: EpochMillis,
): EpochMillis => Math.min(order?.lastEventTime ?? purchaseCompletionTime ?? now, now - secondMs);

const listUserAliases = ({ externalAccountIdentifiers, outOfAppPurchaseContext }: Subscription): string[] =>
  listDefined(
    [externalAccountIdentifiers, outOfAppPurchaseContext?.expiredExternalAccountIdentifiers].flatMap((identifiers) => [
      identifiers?.obfuscatedExternalAccountId,
      identifiers?.obfuscatedExternalProfileId,
    ]),
  );

const listDefined = (values: readonly (string | undefined)[]): string[] =>
  values.filter((value) => value !== undefined);
