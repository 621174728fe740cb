import * as v from 'valibot';
import { dayMs, formatTime, secondMs } from '../calendar.ts';
import { type HttpResponse, jsonResponse, noContentResponse, type StoreHttpRequest } from '../http-messages.ts';
import { apiError } from './api-error.ts';
import { getPurchasedPlan } from './catalogue.ts';
import { revoke } from './end-subscription.ts';
import { revokeItem } from './item-changes.ts';
import { isPaid } from './orders.ts';
import { refundAmount } from './partial-refund.ts';
import { buildSubscriptionNotification, type Transition, withOrder, withSubscription } from './purchase-transition.ts';
import type { Purchase, Subscription } from './records.ts';
import { cancelRenewal } from './renewal-settings.ts';
import { requirePurchase } from './require-purchase.ts';
import type { ResponseContext } from './response-context.ts';
import { findOrder } from './store-state.ts';
import { toSubscriptionView } from './subscription-view.ts';

/** Context of calls that change purchases. */
export interface DeveloperActionContext extends ResponseContext {
  /** Saves a transition and sends its notifications. */
  readonly saveTransition: (transition: Transition, at: number) => string;
}

type ActionHandler = (
  context: DeveloperActionContext,
  parts: readonly string[],
  call: StoreHttpRequest,
) => HttpResponse;

/** Calls with which the developer changes a purchase. */
export const developerActionRoutes: readonly (readonly [method: string, path: RegExp, handler: ActionHandler])[] = [
  ['POST', /^purchases\/subscriptionsv2\/tokens\/([^/:]+):cancel$/, cancel],
  ['POST', /^purchases\/subscriptionsv2\/tokens\/([^/:]+):revoke$/, revokeSubscription],
  ['POST', /^purchases\/subscriptionsv2\/tokens\/([^/:]+):defer$/, defer],
  ['POST', /^orders\/([^/:]+):refund$/, refundOrder],
];

const invalidState = () => apiError(400, 'invalid', 'The subscription purchase is not in a valid state.');

function parseBody<S extends v.GenericSchema>(schema: S, { body }: StoreHttpRequest): v.InferOutput<S> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body.toString('utf8') || '{}');
  if (result.success) return result.output;
  throw apiError(400, 'invalid', 'Invalid JSON payload received.');
}

const requireSubscription = (context: ResponseContext, token: string): Purchase & { subscription: Subscription } => {
  const purchase = requirePurchase(context, token, 'subscription');
  const { subscription } = purchase;
  if (!subscription || purchase.isUnpaid) throw invalidState();
  return { ...purchase, subscription };
};

const CancelBody = v.object({
  cancellationContext: v.object({
    cancellationType: v.picklist(['USER_REQUESTED_STOP_RENEWALS', 'DEVELOPER_REQUESTED_STOP_PAYMENTS']),
  }),
});

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/cancel */
function cancel(
  context: DeveloperActionContext,
  [token = '']: readonly string[],
  call: StoreHttpRequest,
): HttpResponse {
  const { cancellationType } = parseBody(CancelBody, call).cancellationContext;
  const purchase = requireSubscription(context, token);
  const { state, isPrepaid } = purchase.subscription;
  if (isPrepaid || state === 'CANCELED' || state === 'EXPIRED') throw invalidState();
  const by = cancellationType === 'USER_REQUESTED_STOP_RENEWALS' ? 'user' : 'developer';
  context.saveTransition(cancelRenewal(purchase, context.now(), by), context.now());
  return jsonResponse(200, {});
}

const RevokeBody = v.object({
  revocationContext: v.union([
    v.strictObject({ fullRefund: v.object({}) }),
    v.strictObject({ proratedRefund: v.object({}) }),
    v.strictObject({ itemBasedRefund: v.object({ productId: v.string() }) }),
  ]),
});

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/revoke */
function revokeSubscription(
  context: DeveloperActionContext,
  [token = '']: readonly string[],
  call: StoreHttpRequest,
): HttpResponse {
  const { revocationContext } = parseBody(RevokeBody, call);
  const purchase = requireSubscription(context, token);
  const { state, isPrepaid, items = [] } = purchase.subscription;
  if (state === 'EXPIRED' || state === 'PENDING_PURCHASE_CANCELED') throw invalidState();
  const at = context.now();
  if ('itemBasedRefund' in revocationContext) {
    const { productId } = revocationContext.itemBasedRefund;
    const isOwned =
      items.length === 0 ? purchase.productId === productId : items.some((item) => item.productId === productId);
    if (isPrepaid || !isOwned || (state !== 'ACTIVE' && state !== 'CANCELED')) throw invalidState();
    context.saveTransition(revokeItem(purchase, at, productId), at);
    return jsonResponse(200, {});
  }
  const prorated = 'proratedRefund' in revocationContext ? refundUnusedTime(purchase, at) : purchase;
  const { purchase: revoked, ...transition } = revoke(prorated, at);
  // A prorated refund leaves the order partially refunded.
  const ended = prorated === purchase ? revoked : { ...revoked, orders: prorated.orders };
  context.saveTransition({ ...transition, purchase: ended }, at);
  return jsonResponse(200, {});
}

function refundUnusedTime(purchase: Purchase, at: number): Purchase {
  const order = purchase.orders.findLast(({ state }) => isPaid(state));
  if (!order?.service || order.amountMicros === 0) return purchase;
  const { start, end } = order.service;
  const share = Math.min(1, Math.max(0, (end - at) / (end - start)));
  const amountMicros = Math.round((order.amountMicros * share) / 10_000) * 10_000;
  if (amountMicros === 0 || amountMicros >= order.amountMicros) return purchase;
  return refundAmount(purchase, { at, order, amountMicros }).purchase;
}

const DeferBody = v.object({
  deferralContext: v.object({
    etag: v.string(),
    deferDuration: v.pipe(v.string(), v.regex(/^\d+(\.\d{1,9})?s$/)),
    validateOnly: v.optional(v.boolean(), false),
  }),
});

const minDeferralMs = dayMs;
const maxDeferralMs = 366 * dayMs;

/**
 * Moves the end of all items by the same duration: a day to a year for each call.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/defer
 */
function defer(context: DeveloperActionContext, [token = '']: readonly string[], call: StoreHttpRequest): HttpResponse {
  const { etag, deferDuration, validateOnly } = parseBody(DeferBody, call).deferralContext;
  const purchase = requireSubscription(context, token);
  const { subscription } = purchase;
  const view = toSubscriptionView(purchase, getPurchasedPlan(context.state, purchase));
  if (view.etag !== etag)
    throw apiError(400, 'invalid', 'The etag does not match the latest etag of the subscription.');
  const durationMs = Number.parseFloat(deferDuration) * secondMs;
  if (durationMs < minDeferralMs || durationMs > maxDeferralMs)
    throw apiError(400, 'invalid', 'The deferral duration must be between one day and one year.');
  if (subscription.state !== 'ACTIVE' || !subscription.autoRenew || subscription.isPrepaid) throw invalidState();
  const deferred = moveEnd(purchase, durationMs);
  const at = context.now();
  if (!validateOnly) {
    const notifications = [buildSubscriptionNotification(purchase, 'DEFERRED')];
    context.saveTransition({ purchase: deferred, notifications }, at);
  }
  const { lineItems = [] } = toSubscriptionView(deferred, getPurchasedPlan(context.state, deferred));
  return jsonResponse(200, {
    itemExpiryTimeDetails: lineItems.map(({ productId, expiryTime }) => ({ productId, expiryTime })),
  });
}

function moveEnd(purchase: Purchase & { subscription: Subscription }, durationMs: number): Purchase {
  const { expiryTime, anchor, items } = purchase.subscription;
  const end = Date.parse(formatTime(expiryTime + durationMs));
  return withSubscription(purchase, {
    expiryTime: end,
    anchor: { ...anchor, date: end, periods: 0 },
    ...(items && {
      items: items.map((item) => (item.endsAt === undefined ? item : { ...item, endsAt: item.endsAt + durationMs })),
    }),
  });
}

const maxOrderAgeMs = 3 * 365 * dayMs;

/**
 * Refunds a whole order. With `revoke`, the access to its product ends, too.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/refund
 */
function refundOrder(
  context: DeveloperActionContext,
  [id = '']: readonly string[],
  { query }: StoreHttpRequest,
): HttpResponse {
  const { state } = context;
  if (!state.areOrdersReadable)
    throw apiError(403, 'permissionDenied', 'The current user has insufficient permissions to perform the operation.');
  const match = findOrder(state, id);
  if (!match) throw apiError(404, 'orderNotFound', 'The order was not found.');
  const { order, purchase } = match;
  const at = context.now();
  if (!isPaid(order.state) || order.amountMicros === 0)
    throw apiError(400, 'orderNotRefundable', 'The order cannot be refunded.');
  if (at - order.createdAt > maxOrderAgeMs)
    throw apiError(400, 'orderNotRefundable', 'Orders older than 3 years cannot be refunded.');
  const isLatest = purchase.orders.findLast((candidate) => isPaid(candidate.state))?.id === id;
  const hasEnded = purchase.isCancelled || purchase.subscription?.state === 'EXPIRED';
  if (query.get('revoke') === 'true' && isLatest && !hasEnded) context.saveTransition(revoke(purchase, at), at);
  else
    context.saveTransition(
      { purchase: withOrder(purchase, id, { state: 'REFUNDED', changedAt: at }), notifications: [] },
      at,
    );
  return noContentResponse;
}

const AcknowledgeBody = v.object({
  externalAccountIds: v.optional(
    v.object({
      obfuscatedAccountId: v.optional(v.pipe(v.string(), v.maxLength(64))),
      obfuscatedProfileId: v.optional(v.pipe(v.string(), v.maxLength(64))),
    }),
  ),
});

/**
 * Reads the account ids of an acknowledgement. They can be set only for a resubscription in the Play Store app.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions/acknowledge
 */
export function readExternalAccount(purchase: Purchase, call: StoreHttpRequest): Partial<Purchase> {
  const { externalAccountIds: ids } = parseBody(AcknowledgeBody, call);
  if (!ids) return {};
  if (purchase.subscription?.resubscribes === undefined || purchase.isAcknowledged)
    throw apiError(400, 'invalid', 'The external account ids can only be set for resubscription purchases.');
  const { obfuscatedAccountId: externalAccountId } = ids;
  return externalAccountId === undefined ? {} : { externalAccountId };
}
