import { createHash } from 'node:crypto';
import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { formatTime } from '../calendar.ts';
import type { Product } from '../product.ts';
import { requireSubscription } from '../purchase-checks.ts';
import { toObfuscatedAccountId } from './accounts.ts';
import { getPeriod, toBasePlanId } from './catalogue.ts';
import { toMoney } from './money.ts';
import { findLatestPaidOrder, getLatestOrder } from './orders.ts';
import type { Purchase, Subscription } from './records.ts';
import { getItemEnd, isRenewing } from './subscription-items.ts';

/**
 * Converts a subscription to the response of `purchases.subscriptionsv2.get`.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/get
 */
export function toSubscriptionView(
  purchase: Purchase,
  product: Product,
): androidpublisher_v3.Schema$SubscriptionPurchaseV2 {
  const { isAcknowledged, isUnpaid, purchasedAt, sandbox } = purchase;
  const subscription = requireSubscription(purchase);
  const view: androidpublisher_v3.Schema$SubscriptionPurchaseV2 = {
    kind: 'androidpublisher#subscriptionPurchaseV2',
    // Absent while the first payment is pending.
    ...(!isUnpaid && { startTime: formatTime(purchasedAt) }),
    regionCode: 'US',
    subscriptionState: `SUBSCRIPTION_STATE_${subscription.state}`,
    ...(subscription.replaces && { linkedPurchaseToken: subscription.replaces.token }),
    acknowledgementState: `ACKNOWLEDGEMENT_STATE_${isAcknowledged ? 'ACKNOWLEDGED' : 'PENDING'}`,
    ...toAccount(purchase),
    ...(sandbox && { testPurchase: {} }),
    ...toStateContext(purchase),
    lineItems: toLineItems(purchase, product),
  };
  return { ...view, etag: createHash('sha256').update(JSON.stringify(view)).digest('base64url') };
}

/**
 * A purchase in the Play Store app has only the account of the expired subscription, until it is acknowledged.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#OutOfAppPurchaseContext
 */
function toAccount(purchase: Purchase): androidpublisher_v3.Schema$SubscriptionPurchaseV2 {
  const { applicationUsername } = purchase;
  const { resubscribes } = requireSubscription(purchase);
  const account = applicationUsername !== undefined && {
    obfuscatedExternalAccountId: toObfuscatedAccountId(applicationUsername),
  };
  if (purchase.externalAccountId !== undefined)
    return { externalAccountIdentifiers: { obfuscatedExternalAccountId: purchase.externalAccountId } };
  if (resubscribes === undefined) return account ? { externalAccountIdentifiers: account } : {};
  if (purchase.isAcknowledged) return {};
  return {
    outOfAppPurchaseContext: {
      expiredPurchaseToken: resubscribes,
      ...(account && { expiredExternalAccountIdentifiers: account }),
    },
  };
}

function toStateContext(purchase: Purchase): androidpublisher_v3.Schema$SubscriptionPurchaseV2 {
  const { state, cancellation, resumesAt } = requireSubscription(purchase);
  const declined = { renewalDeclined: { pendingOrderId: getLatestOrder(purchase).id } };
  if (state === 'IN_GRACE_PERIOD') return { inGracePeriodStateContext: declined };
  if (state === 'ON_HOLD') return { onHoldStateContext: declined };
  if (state === 'PAUSED' && resumesAt !== undefined)
    return { pausedStateContext: { autoResumeTime: formatTime(resumesAt) } };
  return cancellation === undefined ? {} : { canceledStateContext: toCanceledContext(cancellation) };
}

function toCanceledContext({
  by,
  at,
}: NonNullable<Subscription['cancellation']>): androidpublisher_v3.Schema$CanceledStateContext {
  if (by === 'user') return { userInitiatedCancellation: { cancelTime: formatTime(at) } };
  if (by === 'developer') return { developerInitiatedCancellation: {} };
  return by === 'system' ? { systemInitiatedCancellation: {} } : { replacementCancellation: {} };
}

function toLineItem(purchase: Purchase, product: Product): androidpublisher_v3.Schema$SubscriptionPurchaseLineItem {
  const subscription = requireSubscription(purchase);
  const { autoRenew, priceMicros, currency, phase, offerId, expiryTime, replaces, isPrepaid, state } = subscription;
  const paidOrder = findLatestPaidOrder(purchase);
  return {
    productId: purchase.productId,
    expiryTime: formatTime(expiryTime),
    ...(paidOrder && { latestSuccessfulOrderId: paidOrder.id }),
    ...(isPrepaid
      ? { prepaidPlan: { ...(state === 'ACTIVE' && { allowExtendAfterTime: formatTime(purchase.purchasedAt) }) } }
      : {
          autoRenewingPlan: {
            ...(autoRenew && { autoRenewEnabled: true }),
            recurringPrice: toMoney(priceMicros, currency),
            ...toPriceChange(subscription),
            ...toInstallments(subscription),
          },
        }),
    offerDetails: { basePlanId: toBasePlanId(getPeriod(product)), ...(offerId !== undefined && { offerId }) },
    offerPhase: { [phase === 'base' ? 'basePrice' : phase]: {} },
    // A deferred change has replaced nothing until the renewal.
    ...(replaces &&
      !(replaces.isDeferred && replaces.productId === purchase.productId) && {
        itemReplacement: {
          productId: replaces.productId,
          basePlanId: toBasePlanId(replaces.period),
          replacementMode: replaces.isDeferred ? 'DEFERRED' : 'CHARGE_FULL_PRICE',
        },
      }),
  };
}

/** Converts the items. Google does not define an order of them. */
function toLineItems(purchase: Purchase, product: Product): androidpublisher_v3.Schema$SubscriptionPurchaseLineItem[] {
  const subscription = requireSubscription(purchase);
  const base = toLineItem(purchase, product);
  const { items } = subscription;
  if (items === undefined) return [base];
  // A replaced base plan of the same product follows the current one.
  const baseItem = items.find(({ productId }) => productId === purchase.productId);
  return items.map((item) => {
    const { productId, orderId, isProrated, isRemoved, replacedBy, deferredPeriod } = item;
    const isOwned = deferredPeriod === undefined;
    const line = {
      productId,
      ...(isOwned && { expiryTime: formatTime(getItemEnd(subscription, item)) }),
      ...(isOwned && !purchase.isUnpaid && { latestSuccessfulOrderId: orderId }),
      ...(isRemoved && { deferredItemRemoval: {} }),
      ...(replacedBy !== undefined && {
        deferredItemReplacement: { productId: replacedBy },
        autoRenewingPlan: { recurringPrice: toMoney(item.priceMicros, subscription.currency) },
      }),
    };
    if (item === baseItem) return { ...base, ...line };
    return {
      autoRenewingPlan: {
        ...(subscription.autoRenew && isRenewing(item) && { autoRenewEnabled: true }),
        recurringPrice: toMoney(item.priceMicros, subscription.currency),
      },
      offerDetails: { basePlanId: toBasePlanId(deferredPeriod ?? getPeriod(product)) },
      offerPhase: { [isProrated ? 'prorationPeriod' : 'basePrice']: {} },
      ...line,
    };
  });
}

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#InstallmentPlan */
function toInstallments({
  installments,
  pendingCancellation,
}: Subscription): androidpublisher_v3.Schema$AutoRenewingPlan {
  if (installments === undefined) return {};
  return {
    installmentDetails: {
      initialCommittedPaymentsCount: installments.initial,
      remainingCommittedPaymentsCount: installments.remaining,
      ...(pendingCancellation !== undefined && { pendingCancellation: {} }),
    },
  };
}

function toPriceChange({ priceChange, currency }: Subscription): androidpublisher_v3.Schema$AutoRenewingPlan {
  if (priceChange === undefined) return {};
  const { state, priceMicros, chargeAt } = priceChange;
  return {
    priceChangeDetails: {
      newPrice: toMoney(priceMicros, currency),
      priceChangeMode: 'PRICE_INCREASE',
      priceChangeState: state,
      ...(state !== 'APPLIED' && { expectedNewPriceChargeTime: formatTime(chargeAt) }),
    },
  };
}
