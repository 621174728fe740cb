import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import { toPurchaseId, toRefreshToken } from './known-purchases.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { findPaidPhase } from './offer-type.ts';
import { findLineProceeds, findLineTax, listDefined } from './order-lines.ts';
import { getProductRefunds } from './order-refunds.ts';
import {
  findDeferredStart,
  findFirstPayment,
  findPaidUntil,
  getPaidPeriod,
  getPaymentDate,
  isInSilentGrace,
  parseRenewalNumber,
} from './paid-period.ts';
import type { LineItem, Order, Subscription } from './payloads.ts';
import { findPlanPrice, type PlanContext, toSubscriptionAmount } from './subscription-amount.ts';
import { hasOutstandingPayment, toSubscriptionState } from './subscription-state.ts';

/** Input to the mapping of a subscription, in addition to the subscription. */
export interface SubscriptionContext extends MappingContext, Omit<PlanContext, 'order' | 'paid'> {
  /** The latest and the earlier orders by id. */
  readonly allOrders: ReadonlyMap<string, Order>;
  /** Products whose latest order paid for a replaced purchase. */
  readonly productsPaidBefore: ReadonlySet<string>;
}

/**
 * Lists the owned line items. If there are several, one without an order is a deferred replacement. After a deferred
 * change of the base plan, a product has two items: the one that ends later is current.
 */
export function listOwnedItems({ lineItems }: Subscription): readonly LineItem[] {
  if (lineItems.length <= 1) return lineItems;
  const owned = lineItems.filter(({ latestSuccessfulOrderId }) => latestSuccessfulOrderId);
  return owned.filter((item) => !owned.some((other) => other.productId === item.productId && endsLater(other, item)));
}

const endsLater = (a: LineItem, b: LineItem): boolean => (a.expiryTime ?? 0) > (b.expiryTime ?? 0);

/** Converts a subscription to one observation for each owned line item, beginning with the item of the token's id. */
export function toSubscriptionObservations(subscription: Subscription, context: SubscriptionContext): Observation[] {
  const tokenId = toPurchaseId(context.token);
  const observations = listOwnedItems(subscription).map((item) => toItemObservation(subscription, item, context));
  return observations.sort(
    (a, b) => Number(b.purchase.purchaseId === tokenId) - Number(a.purchase.purchaseId === tokenId),
  );
}

function toItemObservation(subscription: Subscription, item: LineItem, context: SubscriptionContext): Observation {
  const { token, now, orders, purchaseIds, predecessors, productsPaidBefore } = context;
  const { productId } = item;
  const purchaseId = purchaseIds.get(productId) ?? toPurchaseId(token, productId);
  const tokenId = toPurchaseId(token);
  const purchase = toSubscriptionPurchase(subscription, item, { ...context, purchaseId });
  const isPaidBefore = productsPaidBefore.has(productId);
  const replacedPurchaseId = predecessors.replacedIds.get(productId);
  return {
    asOf: now,
    ...(!orders.has(productId) && !isPaidBefore && { hasInferredTransactions: true }),
    purchase,
    transactions: isPaidBefore ? [] : toSubscriptionTransactions(subscription, item, { ...context, purchase }),
    userAliases: listUserAliases(subscription),
    // Also set while the payment is outstanding: claims are copied only when the purchase is created.
    ...omitUndefined({
      replacedPurchaseId,
      relatedPurchaseId: purchaseId === tokenId ? predecessors.relatedId : tokenId,
    }),
    refreshToken: toRefreshToken(token, 'subscription', purchaseId === tokenId ? undefined : productId),
  };
}

type ItemContext = SubscriptionContext & { readonly purchaseId: string };

/** Returns the start of an item: the start of the purchase, unless it replaced another item at a renewal. */
function findItemStart(
  subscription: Subscription,
  item: LineItem,
  { token, purchaseId, allOrders, known }: ItemContext,
): EpochMillis | undefined {
  const stored = purchaseId === toPurchaseId(token) ? undefined : known.get(purchaseId)?.purchase.purchaseDate;
  const deferredStart = findDeferredStart(subscription, item);
  if (stored !== undefined || deferredStart === undefined) return stored ?? subscription.startTime;
  return findFirstPayment(item.productId, allOrders.values()) ?? deferredStart;
}

function toSubscriptionPurchase(subscription: Subscription, item: LineItem, context: ItemContext): Purchase {
  const { token, now, purchaseId, orders, known } = context;
  const orderId = item.latestSuccessfulOrderId;
  const isRenewal = parseRenewalNumber(orderId) !== undefined;
  const productId = withPlatform(platformTokens.googlePlay, item.productId);
  const order = orders.get(item.productId);
  const { refundedAt } = getProductRefunds(order, item.productId);
  const purchaseDate = findItemStart(subscription, item, context);
  const paidAt = getPaymentDate(order);
  const knownPurchase = known.get(purchaseId);
  const stored = knownPurchase?.purchase;
  const paidUntil = knownPurchase && findPaidUntil(knownPurchase);
  const state = toSubscriptionState(subscription, item, {
    now,
    known: stored,
    wasRetried: knownPurchase !== undefined && isInSilentGrace(knownPurchase),
    isRefunded: refundedAt !== undefined,
  });
  return {
    purchaseId,
    transactionId: orderId
      ? withPlatform(platformTokens.googlePlay, orderId)
      : (stored?.transactionId ?? withPlatform(platformTokens.googlePlay, token)),
    productId,
    platform: platformTokens.googlePlay,
    productType: 'paid subscription',
    sandbox: subscription.testPurchase !== undefined,
    ...omitUndefined({
      offerId: toOfferId(productId, item.offerDetails ?? {}),
      purchaseDate,
      lastRenewalDate: isRenewal && paidAt !== purchaseDate ? paidAt : undefined,
      endedAt: isRevokedTrial(item, state, paidUntil) ? item.expiryTime : undefined,
    }),
    ...state,
  };
}

/**
 * Google Play has revoked a subscription without a successful order, such as a free trial, if it ended before the
 * known time. So the reason does not depend on the notification that is processed first.
 * @see https://developer.android.com/google/play/billing/rtdn-reference#sub
 */
const isRevokedTrial = (
  { latestSuccessfulOrderId, expiryTime = Infinity }: LineItem,
  { cancelationReason }: Partial<Purchase>,
  paidUntil = 0,
): boolean => latestSuccessfulOrderId === undefined && cancelationReason === 'System' && expiryTime < paidUntil;

function toSubscriptionTransactions(
  subscription: Subscription,
  item: LineItem,
  context: SubscriptionContext & { readonly purchase: Purchase },
): Transaction[] {
  const { orders, purchase, known } = context;
  const { latestSuccessfulOrderId: orderId, productId } = item;
  if (orderId === undefined && hasOutstandingPayment(subscription)) return [];
  const order = orders.get(productId);
  const deferredStart = findDeferredStart(subscription, item);
  const stored = known
    .get(purchase.purchaseId)
    ?.transactions.find(({ transactionId }) => transactionId === purchase.transactionId);
  const paid = getPaidPeriod({ subscription, item, order, orderId, deferredStart }, context);
  return [
    {
      ...pickSharedFields(purchase),
      ...paid,
      ...omitUndefined({
        offerId: purchase.offerId,
        ...findPaidPhase(item, { order, stored }),
        storefront: subscription.regionCode,
        ...getProductRefunds(order, productId),
      }),
      // Google Play names neither the paid phase nor the replaced item later, and a price can change.
      ...(order || !stored ? toSubscriptionAmount(subscription, item, order) : {}),
      ...omitUndefined({ plan: findPlanPrice(item, { ...context, order, paid }) ?? stored?.plan }),
      ...(order && findLineTax(order, productId)),
      ...(order && findLineProceeds(order, productId)),
    },
  ];
}

const listUserAliases = ({ externalAccountIdentifiers, outOfAppPurchaseContext }: Subscription): string[] =>
  listDefined(
    [externalAccountIdentifiers, outOfAppPurchaseContext?.expiredExternalAccountIdentifiers].flatMap((identifiers) => [
      identifiers?.obfuscatedExternalAccountId,
      identifiers?.obfuscatedExternalProfileId,
    ]),
  );
