import { controlError } from '../control-error.ts';
import { mapValues } from '../map-values.ts';
import type { Product } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import { findEarliestTime } from '../run-due.ts';
import { getAcknowledgementDeadline, revokeUnacknowledged } from './acknowledgement.ts';
import { getOrCreateProduct, getPurchasedPlan } from './catalogue.ts';
import { dropDeclinedItems, getDeclinedEnd, hasDeclinedItems } from './declined-items.ts';
import { deferPlanChange } from './deferred-plan.ts';
import { endSubscription, expire, lapse, refund, revoke } from './end-subscription.ts';
import { addItem, removeItem, revokeItem } from './item-changes.ts';
import { failPayment, startAccountHold } from './payment-failure.ts';
import { abandonPending, getReleaseTime, payPending } from './pending-payment.ts';
import { changePlan } from './plan-change.ts';
import {
  buildSubscriptionNotification,
  type Transition,
  type TransitionContext,
  testNotification,
} from './purchase-transition.ts';
import type { Purchase } from './records.ts';
import { requestRefund } from './refund-reviews.ts';
import { needsPriceConsent, recover, renew, resume } from './renewal.ts';
import {
  acceptPriceIncrease,
  cancelRenewal,
  increasePrice,
  pauseSubscription,
  resumeRenewal,
} from './renewal-settings.ts';
import { resubscribe } from './resubscription.ts';
import type { StoreState } from './store-state.ts';
import { topUp } from './top-up.ts';

type Action = (purchase: Purchase, context: TransitionContext, details: ActionBody) => Transition;

/** Creates the actions on a purchase. */
export const createActions = (state: StoreState): Readonly<Record<string, Action>> => ({
  ...mapValues(createPaidActions(state), requirePaid),
  pay: payPending,
  abandon: abandonPending,
});

/** Wraps an action that is not possible without a completed first payment. */
const requirePaid =
  (action: Action): Action =>
  (purchase, context, details) => {
    requirePossible(!purchase.isUnpaid, purchase, 'is not paid');
    return action(purchase, context, details);
  };

const createPaidActions = (state: StoreState): Readonly<Record<string, Action>> => ({
  renew,
  cancel: (purchase, { at }) => cancelRenewal(purchase, at),
  uncancel: resumeRenewal,
  'fail-payment': failPayment,
  recover,
  expire: (purchase, { at }) => endPeriod(purchase, at),
  refund: (purchase, { at }, details) => refund(purchase, at, details),
  revoke: (purchase, { at }) => revoke(purchase, at),
  'request-refund': (purchase, _context, details) => requestRefund(purchase, details),
  pause: (purchase, { at }, { period }) => pauseSubscription(purchase, at, period),
  resume,
  'change-plan': (purchase, context, details) => {
    const next = resolvePlan(state, purchase, details);
    return details.deferred ? deferPlanChange(purchase, next, context.at) : changePlan(purchase, next, context);
  },
  resubscribe,
  'add-item': (purchase, { at }, details) => addItem(purchase, resolvePlan(state, purchase, details), at),
  'remove-item': (purchase, { at }, { productId }) => removeItem(purchase, at, productId),
  'revoke-item': (purchase, { at }, { productId }) => revokeItem(purchase, at, productId),
  'top-up': topUp,
  'raise-price': (purchase, context, { priceMicros }) => increasePrice(purchase, context, priceMicros),
  'accept-price': acceptPriceIncrease,
  acknowledge: (purchase) => ({ purchase: { ...purchase, isAcknowledged: true }, notifications: [] }),
  delete: (purchase) => ({ purchase: { ...purchase, isDeleted: true }, notifications: [] }),
  'test-notification': (purchase) => ({ purchase, notifications: [testNotification] }),
});

/** Returns the new product, or the same product with another base plan: a period is a base plan. */
function resolvePlan(state: StoreState, purchase: Purchase, { productId, ...terms }: ActionBody): Product {
  if (productId === undefined && terms.period === undefined)
    throw controlError(400, 'productId: change-plan requires the new product or the period of the new base plan.');
  requireSubscription(purchase);
  if (productId !== undefined && productId !== purchase.productId)
    return getOrCreateProduct(state, { ...terms, productId, type: 'paid subscription' });
  const { period, priceMicros } = terms;
  return {
    ...getPurchasedPlan(state, purchase),
    ...(period !== undefined && { period }),
    ...(priceMicros !== undefined && { priceMicros }),
  };
}

const scheduledStates: ReadonlySet<string> = new Set(['ACTIVE', 'PAUSED', 'IN_GRACE_PERIOD', 'ON_HOLD', 'CANCELED']);

/** Returns the time of the next scheduled transition of a purchase. */
export const getNextDueTime = (purchase: Purchase): number | undefined =>
  findEarliestTime([getAcknowledgementDeadline(purchase), getReleaseTime(purchase), getScheduledTime(purchase)]);

function getScheduledTime({ subscription }: Purchase): number | undefined {
  if (subscription === undefined || !scheduledStates.has(subscription.state)) return undefined;
  const { state, holdEnds, retriesUntil, resumesAt, expiryTime } = subscription;
  if (state === 'IN_GRACE_PERIOD') return getDeclinedEnd(subscription) ?? expiryTime;
  if (state === 'ON_HOLD') return holdEnds;
  if (state === 'ACTIVE' && retriesUntil !== undefined) return retriesUntil;
  return state === 'PAUSED' ? resumesAt : expiryTime;
}

/** Ends the subscription, or the items whose payment was declined and not recovered. */
const endPeriod = (purchase: Purchase, at: number): Transition =>
  purchase.subscription?.state === 'ON_HOLD' && hasDeclinedItems(purchase)
    ? dropDeclinedItems(purchase, at, 'system')
    : expire(purchase, at);

/** Runs the scheduled transition of a purchase that is due. */
export function runDueTransition(purchase: Purchase, context: TransitionContext): Transition {
  if (getAcknowledgementDeadline(purchase) === context.at) return revokeUnacknowledged(purchase, context.at);
  if (getReleaseTime(purchase) === context.at) return payPending(purchase, context);
  const { state, renewsAutomatically, retriesUntil } = requireSubscription(purchase);
  if (state === 'ACTIVE' && retriesUntil === context.at) return failPayment(purchase, context);
  if (state === 'IN_GRACE_PERIOD') return startAccountHold(purchase, context.at);
  if (state === 'PAUSED') return resume(purchase, context);
  if (state !== 'ACTIVE') return endPeriod(purchase, context.at);
  if (needsPriceConsent(purchase)) {
    const notifications = [
      buildSubscriptionNotification(purchase, 'CANCELED'),
      buildSubscriptionNotification(purchase, 'EXPIRED'),
    ];
    return { purchase: endSubscription(purchase, context.at), notifications };
  }
  return renewsAutomatically ? renew(purchase, context) : lapse(purchase, context.at);
}
