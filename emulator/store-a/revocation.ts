import { requirePossible } from '../purchase-checks.ts';
import {
  buildNotificationType,
  type NotificationType,
  replaceTransaction,
  requireTransaction,
  type Transition,
  type TransitionContext,
  withSubscriptionState,
} from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type Transaction } from './records.ts';

/** Refunds a transaction, by default the latest. Only a refund of the latest transaction ends a subscription. */
export function refund(
  purchase: Purchase,
  { at }: TransitionContext,
  transactionId = getLatestTransaction(purchase).transactionId,
): Transition {
  const refunded = requireTransaction(purchase, transactionId);
  const notifications: NotificationType[] = [{ ...buildNotificationType('REFUND'), transactionId }];
  const ends = refunded === getLatestTransaction(purchase) && purchase.subscription?.willRenew === true;
  if (ends) notifications.push(buildNotificationType('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED'));
  return {
    purchase: revokeTransaction(purchase, refunded, { date: at, reason: 0, type: 'REFUND_FULL' }),
    notifications,
  };
}

/** Revokes a purchase without a refund. For a family share this is the end of sharing. */
export function revoke(purchase: Purchase, { at }: TransitionContext): Transition {
  const family = purchase.sharedFrom === undefined ? {} : ({ type: 'FAMILY_REVOKE' } as const);
  const revoked = revokeTransaction(purchase, getLatestTransaction(purchase), { date: at, reason: 0, ...family });
  return { purchase: revoked, notifications: [buildNotificationType('REVOKE')] };
}

function revokeTransaction(
  purchase: Purchase,
  transaction: Transaction,
  revocation: NonNullable<Transaction['revocation']>,
): Purchase {
  requirePossible(transaction.revocation === undefined, purchase, `already lost ${transaction.transactionId}`);
  const changed: Transaction = { ...transaction, revocation, changedAt: revocation.date };
  const withRevocation = { ...purchase, transactions: replaceTransaction(purchase.transactions, changed) };
  const hasEnded = purchase.subscription === undefined || purchase.subscription.state === 'EXPIRED';
  const endsNow = !hasEnded && transaction === getLatestTransaction(purchase);
  return endsNow ? withSubscriptionState(withRevocation, { state: 'REVOKED', willRenew: false }) : withRevocation;
}
