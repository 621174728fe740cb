import { defined } from '../../defined.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Millis, Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { ValidationRequest } from '../store.ts';
import { amountOf } from './money.ts';
import type { LineItem, OneTimePurchase, Order, Subscription } from './payloads.ts';
import { isUnpaid, subscriptionState } from './subscription-state.ts';

/** A token that was looked at. */
export interface Look {
  readonly token: string;
  readonly now: Millis;
  /** The latest order of each product, where Google told it. */
  readonly orders: ReadonlyMap<string, Order>;
  /** What the request says of its product, for what Google does not tell. */
  readonly hints: Pick<ValidationRequest, 'id' | 'type' | 'priceMicros' | 'currency'> | undefined;
}

const id = (native: string): string => prefixed('store_b', native);

/** The lines of a subscription that are owned; a line without an order among others waits for its turn. */
export const ownedItems = ({ lineItems }: Subscription): readonly LineItem[] =>
  lineItems.length > 1 ? lineItems.filter(({ latestSuccessfulOrderId }) => latestSuccessfulOrderId) : lineItems;

/** The order that was paid last; the number of an unpaid one is no transaction yet. */
export const paidOrderId = (subscription: Subscription, item: LineItem): string | undefined =>
  item.latestSuccessfulOrderId ?? (isUnpaid(subscription) ? undefined : subscription.latestOrderId);

/** One purchase for each owned line. The first has the token for its id, the others the token and their product. */
export function subscriptionObservations(subscription: Subscription, look: Look): Observation[] {
  const { linkedPurchaseToken: replaced } = subscription;
  return ownedItems(subscription).map((item, place) => {
    const purchaseId = id(place === 0 ? look.token : `${look.token}:${item.productId}`);
    const purchase = subscriptionPurchase(subscription, item, { ...look, purchaseId });
    return {
      asOf: look.now,
      purchase,
      transactions: subscriptionTransactions(subscription, item, { ...look, purchase }),
      userTokens: userTokensOf(subscription),
      ...(replaced && place === 0 && { replaces: id(replaced) }),
      refreshToken: { purchaseToken: look.token, kind: 'subscription' },
    };
  });
}

function subscriptionPurchase(
  subscription: Subscription,
  item: LineItem,
  { token, now, purchaseId, orders }: Look & { readonly purchaseId: string },
): Purchase {
  const orderId = paidOrderId(subscription, item);
  const renewed = isRenewal(orderId) ? orders.get(item.productId)?.createTime : undefined;
  return {
    purchaseId,
    transactionId: id(orderId ?? token),
    productId: id(item.productId),
    platform: 'store_b',
    productType: 'paid subscription',
    sandbox: subscription.testPurchase !== undefined,
    ...defined({ offerId: offerIdOf(item), purchaseDate: subscription.startTime, lastRenewalDate: renewed }),
    ...subscriptionState(subscription, item, now),
  };
}

function subscriptionTransactions(
  subscription: Subscription,
  item: LineItem,
  { now, orders, purchase }: Look & { readonly purchase: Purchase },
): Transaction[] {
  const orderId = paidOrderId(subscription, item);
  if (orderId === undefined && isUnpaid(subscription)) return [];
  const order = orders.get(item.productId);
  const bought = order?.createTime ?? (isRenewal(orderId) ? now : subscription.startTime);
  const price = item.offerPhase?.freeTrial ? undefined : item.autoRenewingPlan?.recurringPrice;
  const amount = order?.total ?? price;
  const free = item.autoRenewingPlan?.recurringPrice?.currencyCode;
  return [
    {
      ...common(purchase),
      purchaseDate: bought ?? now,
      ...defined({
        offerId: purchase.offerId,
        expirationDate: item.expiryTime,
        isTrialPeriod: purchase.isTrialPeriod,
        isIntroPeriod: purchase.isIntroPeriod,
        refundedAt: refundedAt(order),
      }),
      ...(amount ? amountOf(amount) : item.offerPhase?.freeTrial && free ? { currency: free, amountMicros: 0 } : {}),
    },
  ];
}

/** One purchase for each product of the token. */
export function productObservations(bought: OneTimePurchase, look: Look): Observation[] {
  return bought.productLineItem.map(({ productId, productOfferDetails: details = {} }, place) => {
    const state = bought.purchaseStateContext?.purchaseState;
    const isPending = state === 'PENDING';
    const order = look.orders.get(productId);
    const ended = state === 'CANCELLED' ? (refundedAt(order) ?? look.now - 1000) : undefined;
    const offer = details.offerId ?? details.purchaseOptionId;
    const purchase: Purchase = {
      purchaseId: id(place === 0 ? look.token : `${look.token}:${productId}`),
      transactionId: id(bought.orderId ?? look.token),
      productId: id(productId),
      platform: 'store_b',
      productType: look.hints?.type === 'consumable' ? 'consumable' : 'non consumable',
      sandbox: bought.testPurchaseContext !== undefined,
      isAcknowledged: bought.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
      isConsumed: details.consumptionState === 'CONSUMPTION_STATE_CONSUMED',
      quantity: details.quantity ?? 1,
      ...defined({
        offerId: offer === undefined ? undefined : `${id(productId)}#${offer}`,
        purchaseDate: bought.purchaseCompletionTime,
        isPending: isPending || undefined,
        endedAt: ended,
        cancelationReason: ended === undefined ? undefined : ('Unknown' as const),
        discountId: details.offerId,
      }),
    };
    return {
      asOf: look.now,
      purchase,
      transactions: isPending ? [] : [productTransaction(purchase, look, { order, ended })],
      userTokens: [bought.obfuscatedExternalAccountId, bought.obfuscatedExternalProfileId].filter(
        (token) => token !== undefined,
      ),
      refreshToken: { purchaseToken: look.token, kind: purchase.productType ?? '', productId },
    };
  });
}

function productTransaction(
  purchase: Purchase,
  { now, hints }: Look,
  { order, ended }: { order: Order | undefined; ended: Millis | undefined },
): Transaction {
  const { priceMicros, currency } = hints && id(hints.id) === purchase.productId ? hints : {};
  const told =
    priceMicros === undefined || currency === undefined
      ? {}
      : { currency, amountMicros: priceMicros * (purchase.quantity ?? 1), isReportedAmount: true };
  return {
    ...common(purchase),
    purchaseDate: purchase.purchaseDate ?? now,
    ...defined({ offerId: purchase.offerId, quantity: purchase.quantity, refundedAt: refundedAt(order) ?? ended }),
    ...(order?.total ? amountOf(order.total) : told),
  };
}

const common = ({ transactionId, purchaseId, productId, platform, sandbox }: Purchase) => ({
  transactionId,
  purchaseId,
  productId,
  platform,
  sandbox,
});

/** `GPA.…..0` is the first renewal; the first order has no such end. */
const isRenewal = (orderId: string | undefined): boolean => /\.\.\d+$/.test(orderId ?? '');

const refundedAt = (order: Order | undefined): Millis | undefined =>
  order?.state === 'REFUNDED' ? (order.lastEventTime ?? order.createTime) : undefined;

function offerIdOf({ productId, offerDetails }: LineItem): string | undefined {
  if (!offerDetails?.basePlanId) return undefined;
  const { basePlanId, offerId } = offerDetails;
  return `${id(productId)}#${basePlanId}${offerId ? `@${offerId}` : ''}`;
}

function userTokensOf({ externalAccountIdentifiers, outOfAppPurchaseContext }: Subscription): string[] {
  return [externalAccountIdentifiers, outOfAppPurchaseContext?.expiredExternalAccountIdentifiers]
    .flatMap((ids) => [ids?.obfuscatedExternalAccountId, ids?.obfuscatedExternalProfileId])
    .filter((token) => token !== undefined);
}
