import { createHash } from 'node:crypto';
import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import { obfuscatedAccountId } from './accounts.ts';
import { basePlanId, periodOf } from './catalogue.ts';
import { subscriptionOf } from './change.ts';
import { money, written } from './money.ts';
import { latestOrder, latestPaidOrder } from './placing.ts';
import type { Product, Purchase, Subscription } from './records.ts';

/** The member that the answers still have until its end, though the types have lost it. */
interface SubscriptionPurchase extends androidpublisher_v3.Schema$SubscriptionPurchaseV2 {
  readonly latestOrderId: string;
}

/** A subscription as `purchases.subscriptionsv2.get` answers it. */
export function subscriptionView(purchase: Purchase, product: Product): SubscriptionPurchase {
  const { applicationUsername, isAcknowledged, purchasedAt, sandbox } = purchase;
  const subscription = subscriptionOf(purchase);
  const view: SubscriptionPurchase = {
    kind: 'androidpublisher#subscriptionPurchaseV2',
    startTime: written(purchasedAt),
    regionCode: 'US',
    subscriptionState: `SUBSCRIPTION_STATE_${subscription.state}`,
    latestOrderId: latestOrder(purchase).id,
    ...(subscription.replaces && { linkedPurchaseToken: subscription.replaces.token }),
    acknowledgementState: `ACKNOWLEDGEMENT_STATE_${isAcknowledged ? 'ACKNOWLEDGED' : 'PENDING'}`,
    ...(applicationUsername !== undefined && {
      externalAccountIdentifiers: { obfuscatedExternalAccountId: obfuscatedAccountId(applicationUsername) },
    }),
    ...(sandbox && { testPurchase: {} }),
    ...contextOf(purchase),
    lineItems: [lineItem(purchase, product)],
  };
  return { ...view, etag: createHash('sha256').update(JSON.stringify(view)).digest('base64url') };
}

function contextOf(purchase: Purchase): androidpublisher_v3.Schema$SubscriptionPurchaseV2 {
  const { state, cancelled, resumesAt } = subscriptionOf(purchase);
  const declined = { renewalDeclined: { pendingOrderId: latestOrder(purchase).id } };
  if (state === 'IN_GRACE_PERIOD') return { inGracePeriodStateContext: declined };
  if (state === 'ON_HOLD') return { onHoldStateContext: declined };
  if (state === 'PAUSED' && resumesAt !== undefined)
    return { pausedStateContext: { autoResumeTime: written(resumesAt) } };
  return cancelled === undefined ? {} : { canceledStateContext: cancellation(cancelled) };
}

function cancellation({
  by,
  at,
}: NonNullable<Subscription['cancelled']>): androidpublisher_v3.Schema$CanceledStateContext {
  if (by === 'user') return { userInitiatedCancellation: { cancelTime: written(at) } };
  return by === 'system' ? { systemInitiatedCancellation: {} } : { replacementCancellation: {} };
}

function lineItem(purchase: Purchase, product: Product): androidpublisher_v3.Schema$SubscriptionPurchaseLineItem {
  const { autoRenew, priceMicros, currency, phase, offerId, expiryTime, replaces } = subscriptionOf(purchase);
  const paid = latestPaidOrder(purchase);
  return {
    productId: purchase.productId,
    expiryTime: written(expiryTime),
    ...(paid && { latestSuccessfulOrderId: paid.id }),
    autoRenewingPlan: {
      ...(autoRenew && { autoRenewEnabled: true }),
      recurringPrice: money(priceMicros, currency),
      ...priceChangeOf(subscriptionOf(purchase)),
    },
    offerDetails: { basePlanId: basePlanId(periodOf(product)), ...(offerId !== undefined && { offerId }) },
    offerPhase: { [phase === 'base' ? 'basePrice' : phase]: {} },
    ...(replaces && {
      itemReplacement: {
        productId: replaces.productId,
        basePlanId: basePlanId(replaces.period),
        replacementMode: 'CHARGE_FULL_PRICE',
      },
    }),
  };
}

function priceChangeOf({ priceChange, currency }: Subscription): androidpublisher_v3.Schema$AutoRenewingPlan {
  if (priceChange === undefined) return {};
  const { state, priceMicros, chargeAt } = priceChange;
  return {
    priceChangeDetails: {
      newPrice: money(priceMicros, currency),
      priceChangeMode: 'PRICE_INCREASE',
      priceChangeState: state,
      ...(state !== 'APPLIED' && { expectedNewPriceChargeTime: written(chargeAt) }),
    },
  };
}
