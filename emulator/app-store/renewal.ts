import { advanceAnchor } from '../billing-anchor.ts';
import { dayMs, floorToSecond } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { type ActionBody, pickPrice } from '../purchase-order.ts';
import { type AppliedOffer, buildPeriodTransaction, type PaidPeriod } from './billing-period.ts';
import { advanceCommitment, createCommitment, isLastPeriod } from './commitment.ts';
import { listNextItems } from './items.ts';
import {
  buildNotificationType,
  clampToLatestPeriod,
  getPaidUntil,
  getPeriod,
  type Transition,
  type TransitionContext,
  withSubscription,
  withTransaction,
} from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type Subscription } from './records.ts';

/**
 * Pays the next period: a renewal, a recovery after a failed payment or a resubscription. The price is converted if the
 * country of the customer has changed its currency.
 */
export function renew(present: Purchase, context: TransitionContext, details: ActionBody = {}): Transition {
  const { state, renewal } = requireSubscription(present);
  const purchase = withSubscription(present, { renewal: { ...renewal, ...pickPrice(details) } });
  if (state === 'ACTIVE') return renewInTime(purchase, context);
  if (state === 'BILLING_GRACE_PERIOD' || state === 'BILLING_RETRY') return recover(purchase, context);
  return resubscribe(purchase, context);
}

/** Pays a failed renewal. In a grace period the next period follows without a gap, otherwise it starts now. */
export function recover(purchase: Purchase, context: TransitionContext): Transition {
  const { state, willRenew } = requireSubscription(purchase);
  requirePossible(
    state === 'BILLING_GRACE_PERIOD' || state === 'BILLING_RETRY',
    purchase,
    `is ${state}: no payment failed`,
  );
  requirePossible(willRenew, purchase, 'is canceled');
  const start = state === 'BILLING_GRACE_PERIOD' ? getPaidUntil(purchase) : floorToSecond(context.at);
  return {
    purchase: withPeriod(purchase, { start, reason: 'RENEWAL' }, context),
    notifications: [buildNotificationType('DID_RENEW', 'BILLING_RECOVERY')],
  };
}

/** Buys an ended subscription again. It keeps its original transaction id. */
export function resubscribe(purchase: Purchase, context: TransitionContext, offer?: AppliedOffer): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'EXPIRED' || state === 'REVOKED', purchase, `is ${state} and has not ended`);
  const { items } = getLatestTransaction(purchase);
  requirePossible(items === undefined, purchase, 'has items: another purchase of them is not emulated');
  return {
    purchase: withPeriod(purchase, { start: floorToSecond(context.at), reason: 'PURCHASE', offer }, context),
    notifications: [buildNotificationType('SUBSCRIBED', 'RESUBSCRIBE')],
  };
}

function renewInTime(purchase: Purchase, context: TransitionContext): Transition {
  const { willRenew, priceIncrease } = requireSubscription(purchase);
  requirePossible(willRenew, purchase, 'is canceled and does not renew');
  requirePossible(priceIncrease?.accepted !== false, purchase, 'cannot renew until the price increase is accepted');
  return {
    purchase: withPeriod(purchase, { start: getPaidUntil(purchase), reason: 'RENEWAL' }, context),
    notifications: [buildNotificationType('DID_RENEW')],
  };
}

type NextPeriod = Pick<PaidPeriod, 'start' | 'reason' | 'offer'>;

function withPeriod(purchase: Purchase, next: NextPeriod, context: TransitionContext): Purchase {
  const start = clampToLatestPeriod(purchase, next.start);
  const current = requireSubscription(purchase);
  const offer = next.offer ?? (next.reason === 'RENEWAL' ? current.nextOffer : undefined);
  const period = offer?.period ?? getPeriod(context.product(current.renewal.productId));
  const priceMicros = current.priceIncrease?.accepted ? current.priceIncrease.priceMicros : current.renewal.priceMicros;
  const { seatTiers } = current;
  const isBought = next.reason === 'PURCHASE';
  const commitment =
    current.commitment && (isBought ? createCommitment(start) : advanceCommitment(current.commitment, start));
  const subscription: Subscription = {
    state: 'ACTIVE',
    willRenew: commitment === undefined || commitment.renews || !isLastPeriod(commitment),
    ...(seatTiers && { seatTiers }),
    ...(commitment && { commitment }),
    renewsAutomatically: current.renewsAutomatically,
    renewal: { ...current.renewal, priceMicros },
    anchor: advanceAnchor(current.anchor, period, start),
    recentStart: start - getPaidUntil(purchase) < 60 * dayMs ? current.recentStart : start,
  };
  const { anchor, renewal: price } = subscription;
  const transaction = buildPeriodTransaction(
    {
      ...next,
      start,
      offer,
      anchor,
      price,
      quantity: isBought ? 1 : getLatestTransaction(purchase).quantity,
      seatTiers,
      commitment,
      items: listNextItems(getLatestTransaction(purchase)),
    },
    context,
  );
  return { ...withTransaction(purchase, transaction), subscription };
}
