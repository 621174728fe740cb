import { type Change, demand, type Moment, type Notice, notice, replaceIn, withState } from './change.ts';
import { latest, type Purchase, type Transaction } from './records.ts';

/** The store pays back a transaction, the latest unless another is named; only the latest ends a subscription. */
export function refund(purchase: Purchase, { at }: Moment, transactionId = latest(purchase).transactionId): Change {
  const refunded = purchase.transactions.find((one) => one.transactionId === transactionId);
  demand(refunded !== undefined, purchase, `has no transaction ${transactionId}`);
  const notices: Notice[] = [{ ...notice('REFUND'), transactionId }];
  const ends = refunded === latest(purchase) && purchase.subscription?.willRenew === true;
  if (ends) notices.push(notice('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED'));
  return { purchase: takeBack(purchase, refunded, { date: at, reason: 0, type: 'REFUND_FULL' }), notices };
}

/** The store takes the purchase away without paying back; from a family member when sharing ends. */
export function revoke(purchase: Purchase, { at }: Moment): Change {
  const family = purchase.sharedFrom === undefined ? {} : ({ type: 'FAMILY_REVOKE' } as const);
  const revoked = takeBack(purchase, latest(purchase), { date: at, reason: 0, ...family });
  return { purchase: revoked, notices: [notice('REVOKE')] };
}

function takeBack(
  purchase: Purchase,
  transaction: Transaction,
  revocation: NonNullable<Transaction['revocation']>,
): Purchase {
  demand(transaction.revocation === undefined, purchase, `has lost ${transaction.transactionId} already`);
  const changed: Transaction = { ...transaction, revocation, changedAt: revocation.date };
  const marked = { ...purchase, transactions: replaceIn(purchase.transactions, changed) };
  const hasEnded = purchase.subscription === undefined || purchase.subscription.state === 'EXPIRED';
  const endsNow = !hasEnded && transaction === latest(purchase);
  return endsNow ? withState(marked, { state: 'REVOKED', willRenew: false }) : marked;
}
