import { createHash } from 'node:crypto';
import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { toObfuscatedAccountId } from './accounts.ts';
import { getPeriod, toBasePlanId } from './catalogue.ts';
import { toMoney, toTimestamp } from './money.ts';
import { findLatestPaidOrder, getLatestOrder } from './orders.ts';
import { requireSubscription } from './purchase-transition.ts';
import type { Product, Purchase, Subscription } from './records.ts';

/** The member that the answers still have until its end, though the types have lost it. */
interface SubscriptionPurchase extends androidpublisher_v3.Schema$SubscriptionPurchaseV2 {
  readonly latestOrderId: string;
}

/** A subscription as `purchases.subscriptionsv2.get` answers it. */
export function toSubscriptionView(purchase: Purchase, product: Product): SubscriptionPurchase {
  const { applicationUsername, isAcknowledged, purchasedAt, sandbox } = purchase;
  const subscription = requireSubscription(purchase);
  const view: SubscriptionPurchase = {
    kind: 'androidpublisher#subscriptionPurchaseV2',
    startTime: toTimestamp(purchasedAt),
    regionCode: 'US',
    subscriptionState: `SUBSCRIPTION_STATE_${subscription.state}`,
    latestOrderId: getLatestOrder(purchase).id,
    ...(subscription.replaces && { linkedPurchaseToken: subscription.replaces.token }),
    acknowledgementState: `ACKNOWLEDGEMENT_STATE_${isAcknowledged ? 'ACKNOWLEDGED' : 'PENDING'}`,
    ...(applicationUsername !== undefined && {
      externalAccountIdentifiers: { obfuscatedExternalAccountId: toObfuscatedAccountId(applicationUsername) },
    }),
    ...(sandbox && { testPurchase: {} }),
    ...toStateContext(purchase),
    lineItems: [lineItem(purchase, product)],
  };
  return { ...view, etag: createHash('sha256').update(JSON.stringify(view)).digest('base64url') };
}

function toStateContext(purchase: Purchase): androidpublisher_v3.Schema$SubscriptionPurchaseV2 {
  const { state, cancelled, resumesAt } = requireSubscription(purchase);
  const declined = { renewalDeclined: { pendingOrderId: getLatestOrder(purchase).id } };
  if (state === 'IN_GRACE_PERIOD') return { inGracePeriodStateContext: declined };
  if (state === 'ON_HOLD') return { onHoldStateContext: declined };
  if (state === 'PAUSED' && resumesAt !== undefined)
    return { pausedStateContext: { autoResumeTime: toTimestamp(resumesAt) } };
  return cancelled === undefined ? {} : { canceledStateContext: cancellation(cancelled) };
}

function cancellation({
  by,
  at,
}: NonNullable<Subscription['cancelled']>): androidpublisher_v3.Schema$CanceledStateContext {
  if (by === 'user') return { userInitiatedCancellation: { cancelTime: toTimestamp(at) } };
  return by === 'system' ? { systemInitiatedCancellation: {} } : { replacementCancellation: {} };
}

function lineItem(purchase: Purchase, product: Product): androidpublisher_v3.Schema$SubscriptionPurchaseLineItem {
  const { autoRenew, priceMicros, currency, phase, offerId, expiryTime, replaces } = requireSubscription(purchase);
  const paid = findLatestPaidOrder(purchase);
  return {
    productId: purchase.productId,
    expiryTime: toTimestamp(expiryTime),
    ...(paid && { latestSuccessfulOrderId: paid.id }),
    autoRenewingPlan: {
      ...(autoRenew && { autoRenewEnabled: true }),
      recurringPrice: toMoney(priceMicros, currency),
      ...toPriceChange(requireSubscription(purchase)),
    },
    offerDetails: { basePlanId: toBasePlanId(getPeriod(product)), ...(offerId !== undefined && { offerId }) },
    offerPhase: { [phase === 'base' ? 'basePrice' : phase]: {} },
    ...(replaces && {
      itemReplacement: {
        productId: replaces.productId,
        basePlanId: toBasePlanId(replaces.period),
        replacementMode: 'CHARGE_FULL_PRICE',
      },
    }),
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
      ...(state !== 'APPLIED' && { expectedNewPriceChargeTime: toTimestamp(chargeAt) }),
    },
  };
}
