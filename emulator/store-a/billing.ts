import { addPeriod, type Period } from '../calendar.ts';
import {
  type Change,
  demand,
  endingAt,
  type Moment,
  type Notice,
  notice,
  paidUntil,
  subscriptionOf,
  withState,
} from './change.ts';
import type { Purchase, Subscription } from './records.ts';
import { renew } from './renewal.ts';

const dayMs = 86_400_000;

/** The store gives up collecting a payment after so long. */
const retryMs = 60 * dayMs;

const expiredSubtypes = { 1: 'VOLUNTARY', 2: 'BILLING_RETRY', 3: 'PRICE_INCREASE', 5: undefined } as const;

/** When something happens to the purchase by itself: a period, a grace period or the retrying of a payment ends. */
export function dueAt(purchase: Purchase): number | undefined {
  switch (purchase.subscription?.state) {
    case 'ACTIVE':
      return paidUntil(purchase);
    case 'BILLING_GRACE_PERIOD':
      return purchase.subscription.graceUntil;
    case 'BILLING_RETRY':
      return paidUntil(purchase) + retryMs;
    default:
      return undefined;
  }
}

/** What happens by itself at that moment. */
export function dueStep(purchase: Purchase): (purchase: Purchase, moment: Moment) => Change {
  const { state, willRenew, playsRenewals, priceIncrease } = subscriptionOf(purchase);
  if (state === 'BILLING_GRACE_PERIOD' && willRenew) return endGrace;
  const renews = state === 'ACTIVE' && willRenew && playsRenewals && priceIncrease?.accepted !== false;
  return renews ? renew : expire;
}

/**
 * The payment for the next period fails: a grace period with access begins, or nothing but retries when `grace` is false.
 * Failing again in the grace period ends it. A period that ran out unrenewed is taken to have failed at its end.
 */
export function failPayment(purchase: Purchase, moment: Moment, grace = true): Change {
  const { state, willRenew, expirationIntent, anchor } = subscriptionOf(purchase);
  if (state === 'BILLING_GRACE_PERIOD') return endGrace(purchase, moment);
  const isDue = (state === 'ACTIVE' && willRenew) || (state === 'EXPIRED' && expirationIntent === 5);
  demand(isDue, purchase, `is ${state}${state === 'ACTIVE' ? ' but cancelled' : ''}: no payment is due`);
  const graceUntil = paidUntil(purchase) + graceMs(anchor.period);
  if (!grace || graceUntil <= moment.at) {
    return { purchase: retrying(purchase, moment), notices: [notice('DID_FAIL_TO_RENEW')] };
  }
  return {
    purchase: withState(purchase, { state: 'BILLING_GRACE_PERIOD', willRenew: true, graceUntil }),
    notices: [notice('DID_FAIL_TO_RENEW', 'GRACE_PERIOD')],
  };
}

/** The subscription ends now, for the reason that its state gives. */
export function expire(purchase: Purchase, moment: Moment): Change {
  const { state } = subscriptionOf(purchase);
  demand(state !== 'EXPIRED' && state !== 'REVOKED', purchase, `is ${state} already`);
  const expirationIntent = intentOf(subscriptionOf(purchase));
  return {
    purchase: withState(endingAt(purchase, moment.at), { state: 'EXPIRED', willRenew: false, expirationIntent }),
    notices: [notice('EXPIRED', expiredSubtypes[expirationIntent])],
  };
}

function endGrace(purchase: Purchase, moment: Moment): Change {
  const { graceUntil = moment.at } = subscriptionOf(purchase);
  const notices: Notice[] = [notice('GRACE_PERIOD_EXPIRED')];
  return { purchase: retrying(purchase, moment, Math.min(graceUntil, moment.at)), notices };
}

const retrying = (purchase: Purchase, moment: Moment, graceUntil?: number): Purchase =>
  withState(endingAt(purchase, moment.at), {
    state: 'BILLING_RETRY',
    willRenew: true,
    expirationIntent: 2,
    ...(graceUntil !== undefined && { graceUntil }),
  });

function intentOf({ state, willRenew, priceIncrease }: Subscription): 1 | 2 | 3 | 5 {
  if (!willRenew) return 1;
  if (state !== 'ACTIVE') return 2;
  return priceIncrease?.accepted === false ? 3 : 5;
}

/** 16 days; for periods of a week or less 6 days, and never longer than the period. */
function graceMs(period: Period): number {
  const periodMs = addPeriod(0, period);
  return periodMs > 7 * dayMs ? 16 * dayMs : Math.min(6 * dayMs, periodMs);
}
