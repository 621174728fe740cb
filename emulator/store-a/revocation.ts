import {
  buildNotificationType,
  type NotificationType,
  replaceTransaction,
  requirePossible,
  type Transition,
  type TransitionContext,
  withSubscriptionState,
} from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type Transaction } from './records.ts';

/** The store pays back a transaction, the latest unless another is named; only the latest ends a subscription. */
export function refund(
  purchase: Purchase,
  { at }: TransitionContext,
  transactionId = getLatestTransaction(purchase).transactionId,
): Transition {
  const refunded = purchase.transactions.find((one) => one.transactionId === transactionId);
  requirePossible(refunded !== undefined, purchase, `has no transaction ${transactionId}`);
  const notifications: NotificationType[] = [{ ...buildNotificationType('REFUND'), transactionId }];
  const ends = refunded === getLatestTransaction(purchase) && purchase.subscription?.willRenew === true;
  if (ends) notifications.push(buildNotificationType('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED'));
  return {
    purchase: revokeTransaction(purchase, refunded, { date: at, reason: 0, type: 'REFUND_FULL' }),
    notifications,
  };
}

/** The store takes the purchase away without paying back; from a family member when sharing ends. */
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
  requirePossible(transaction.revocation === undefined, purchase, `has lost ${transaction.transactionId} already`);
  const changed: Transaction = { ...transaction, revocation, changedAt: revocation.date };
  const marked = { ...purchase, transactions: replaceTransaction(purchase.transactions, changed) };
  const hasEnded = purchase.subscription === undefined || purchase.subscription.state === 'EXPIRED';
  const endsNow = !hasEnded && transaction === getLatestTransaction(purchase);
  return endsNow ? withSubscriptionState(marked, { state: 'REVOKED', willRenew: false }) : marked;
}
