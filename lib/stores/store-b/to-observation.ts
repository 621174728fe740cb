import { toInferredAsOf } from '../../purchases/merge-transactions.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { ValidationRequest } from '../store.ts';
import { toAmount } from './money.ts';
import type { LineItem, OneTimePurchase, Order, Subscription } from './payloads.ts';
import { hasOutstandingPayment, toSubscriptionState } from './subscription-state.ts';

/** A token that was looked at. */
export interface MappingContext {
  readonly token: string;
  readonly now: EpochMillis;
  /** The latest order of each product, where Google told it. */
  readonly orders: ReadonlyMap<string, Order>;
  /** What the request says of its product, for what Google does not tell. */
  readonly hints: Pick<ValidationRequest, 'id' | 'type' | 'priceMicros' | 'currency'> | undefined;
}

const id = (native: string): string => withPlatform('store_b', native);

/** The lines of a subscription that are owned; a line without an order among others waits for its turn. */
export const listOwnedItems = ({ lineItems }: Subscription): readonly LineItem[] =>
  lineItems.length > 1 ? lineItems.filter(({ latestSuccessfulOrderId }) => latestSuccessfulOrderId) : lineItems;

/** The order that was paid last; the number of an unpaid one is no transaction yet. */
export const findPaidOrderId = (subscription: Subscription, item: LineItem): string | undefined =>
  item.latestSuccessfulOrderId ?? (hasOutstandingPayment(subscription) ? undefined : subscription.latestOrderId);

/** One purchase for each owned line. The first has the token for its id, the others the token and their product. */
export function toSubscriptionObservations(subscription: Subscription, context: MappingContext): Observation[] {
  const { linkedPurchaseToken: replaced } = subscription;
  return listOwnedItems(subscription).map((item, place) => {
    const purchaseId = id(place === 0 ? context.token : `${context.token}:${item.productId}`);
    const purchase = toSubscriptionPurchase(subscription, item, { ...context, purchaseId });
    return {
      asOf: context.now,
      ...(!context.orders.has(item.productId) && { transactionsAsOf: toInferredAsOf(context.now) }),
      purchase,
      transactions: toSubscriptionTransactions(subscription, item, { ...context, purchase }),
      userAliases: listUserAliases(subscription),
      // Its users come along while a payment is outstanding, too: later it is not new any more.
      ...(replaced && place === 0 && { replaces: id(replaced) }),
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
  const renewed = parseRenewalNumber(orderId) === undefined ? undefined : orders.get(item.productId)?.createTime;
  return {
    purchaseId,
    transactionId: id(orderId ?? token),
    productId: id(item.productId),
    platform: 'store_b',
    productType: 'paid subscription',
    sandbox: subscription.testPurchase !== undefined,
    ...omitUndefined({ offerId: toOfferId(item), purchaseDate: subscription.startTime, lastRenewalDate: renewed }),
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
  const purchasedAt = order?.createTime ?? estimatePeriodStart(subscription, item, { orderId, now });
  const { freeTrial, introductoryPrice, prorationPeriod } = item.offerPhase ?? {};
  const isFullPrice = !freeTrial && !introductoryPrice && !prorationPeriod;
  const amount = order?.total ?? (isFullPrice ? item.autoRenewingPlan?.recurringPrice : undefined);
  const free = item.autoRenewingPlan?.recurringPrice?.currencyCode;
  return [
    {
      ...pickSharedFields(purchase),
      purchaseDate: purchasedAt ?? now,
      ...omitUndefined({
        offerId: purchase.offerId,
        // In grace the line's date is later than what was paid for.
        expirationDate: getPeriodEnd(order, item) ?? item.expiryTime,
        isTrialPeriod: purchase.isTrialPeriod,
        isIntroPeriod: purchase.isIntroPeriod,
        refundedAt: getRefundDate(order),
      }),
      ...(amount ? toAmount(amount) : freeTrial && free ? { currency: free, amountMicros: 0 } : {}),
    },
  ];
}

const getPeriodEnd = (order: Order | undefined, { productId }: LineItem): EpochMillis | undefined =>
  order?.lineItems.find((line) => line.productId === productId)?.subscriptionDetails?.servicePeriodEndTime;

/** One purchase for each product of the token. */
export function toProductObservations(purchasedAt: OneTimePurchase, context: MappingContext): Observation[] {
  return purchasedAt.productLineItem.map(({ productId, productOfferDetails: details = {} }, place) => {
    const state = purchasedAt.purchaseStateContext?.purchaseState;
    const isPending = state === 'PENDING';
    const order = context.orders.get(productId);
    const ended = state === 'CANCELLED' ? estimateEnd(purchasedAt, order, context.now) : undefined;
    const isPaid = !isPending && (ended === undefined || purchasedAt.orderId !== undefined);
    const offer = details.offerId ?? details.purchaseOptionId;
    const purchase: Purchase = {
      purchaseId: id(place === 0 ? context.token : `${context.token}:${productId}`),
      transactionId: id(purchasedAt.orderId ?? context.token),
      productId: id(productId),
      platform: 'store_b',
      sandbox: purchasedAt.testPurchaseContext !== undefined,
      isAcknowledged: purchasedAt.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
      isConsumed: details.consumptionState === 'CONSUMPTION_STATE_CONSUMED',
      quantity: details.quantity ?? 1,
      ...omitUndefined({
        productType: toProductType(details.consumptionState, context.hints),
        offerId: offer === undefined ? undefined : `${id(productId)}#${offer}`,
        purchaseDate: purchasedAt.purchaseCompletionTime,
        isPending: isPending || undefined,
        endedAt: ended,
        cancelationReason: ended === undefined ? undefined : ('Unknown' as const),
        discountId: details.offerId,
      }),
    };
    return {
      asOf: context.now,
      ...(!order && ended === undefined && { transactionsAsOf: toInferredAsOf(context.now) }),
      purchase,
      transactions: isPaid ? [toProductTransaction(purchase, context, { order, ended })] : [],
      userAliases: [purchasedAt.obfuscatedExternalAccountId, purchasedAt.obfuscatedExternalProfileId].filter(
        (token) => token !== undefined,
      ),
      refreshToken: { purchaseToken: context.token, kind: purchase.productType ?? 'product', productId },
    };
  });
}

/** Google tells of no one-time product whether it can be consumed, before it is. */
function toProductType(consumptionState: string | undefined, hints: MappingContext['hints']): Purchase['productType'] {
  if (hints?.type === 'consumable' || consumptionState === 'CONSUMPTION_STATE_CONSUMED') return 'consumable';
  return hints && 'non consumable';
}

function toProductTransaction(
  purchase: Purchase,
  { now, hints }: MappingContext,
  { order, ended }: { order: Order | undefined; ended: EpochMillis | undefined },
): Transaction {
  const { priceMicros, currency } = hints && id(hints.id) === purchase.productId ? hints : {};
  const told =
    priceMicros === undefined || currency === undefined
      ? {}
      : { currency, amountMicros: priceMicros * (purchase.quantity ?? 1), isReportedAmount: true };
  return {
    ...pickSharedFields(purchase),
    purchaseDate: purchase.purchaseDate ?? now,
    ...omitUndefined({
      offerId: purchase.offerId,
      quantity: purchase.quantity,
      refundedAt: getRefundDate(order) ?? ended,
    }),
    ...(order?.total ? toAmount(order.total) : told),
  };
}

const pickSharedFields = ({ transactionId, purchaseId, productId, platform, sandbox }: Purchase) => ({
  transactionId,
  purchaseId,
  productId,
  platform,
  sandbox,
});

/** `GPA.…..0` is the first renewal; the first order has no such end. */
const parseRenewalNumber = (orderId: string | undefined): string | undefined =>
  /\.\.(\d{1,6})$/.exec(orderId ?? '')?.[1];

/** Without the order, the periods so far are taken as equally long: the same answer at every look. */
function estimatePeriodStart(
  { startTime }: Subscription,
  { expiryTime }: LineItem,
  { orderId, now }: { readonly orderId: string | undefined; readonly now: EpochMillis },
): EpochMillis | undefined {
  const renewal = parseRenewalNumber(orderId);
  if (renewal === undefined || startTime === undefined || expiryTime === undefined) return startTime;
  const start = expiryTime - Math.max(0, Math.round((expiryTime - startTime) / (Number(renewal) + 2)));
  return start <= now ? start : startTime;
}

/** Google does not date what it took back but by its order; the purchase is the moment that is the same at every look. */
const estimateEnd = (
  { purchaseCompletionTime }: OneTimePurchase,
  order: Order | undefined,
  now: EpochMillis,
): EpochMillis => Math.min(order?.lastEventTime ?? purchaseCompletionTime ?? now, now - 1000);

const getRefundDate = (order: Order | undefined): EpochMillis | undefined =>
  order?.state === 'REFUNDED' ? (order.lastEventTime ?? order.createTime) : undefined;

function toOfferId({ productId, offerDetails }: LineItem): string | undefined {
  if (!offerDetails?.basePlanId) return undefined;
  const { basePlanId, offerId } = offerDetails;
  return `${id(productId)}#${basePlanId}${offerId ? `@${offerId}` : ''}`;
}

function listUserAliases({ externalAccountIdentifiers, outOfAppPurchaseContext }: Subscription): string[] {
  return [externalAccountIdentifiers, outOfAppPurchaseContext?.expiredExternalAccountIdentifiers]
    .flatMap((ids) => [ids?.obfuscatedExternalAccountId, ids?.obfuscatedExternalProfileId])
    .filter((token) => token !== undefined);
}
