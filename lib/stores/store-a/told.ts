import type { Millis } from '../../purchases/purchase.ts';
import type { Account } from './account.ts';
import { type Line, linesOf } from './lines.ts';
import type { Parts } from './notification.ts';
import { fromSignedStatus, fromSignedTransaction } from './signed-transaction.ts';

/** What the signed parts of a notification tell, of which type it is, and when Apple signed it. */
export interface Told extends Parts {
  readonly type: string;
  readonly at: Millis;
}

/** These name the transaction that they are about, of whichever period it is; all others name the latest. */
const ofAnyPeriod = new Set(['REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED']);

const [expired, revoked] = [2, 5];

/** Whether the parts alone tell the present state, and not only that of a period that may be long past. */
export function tellsPresentState({ type, at, status, transaction }: Told): boolean {
  const { expiresDate, revocationDate, isUpgraded } = transaction;
  if (!ofAnyPeriod.has(type) || expiresDate === undefined) return true;
  const isOver = revocationDate !== undefined || isUpgraded === true;
  if (status === expired || status === revoked) return isOver;
  // While the subscription is in force, what was taken back is not what it runs on.
  return expiresDate > at && (status === undefined || !isOver);
}

/** The purchase as the parts show it at the moment of the notification. */
export const presentLine = (told: Told): Line => lineOf(told, accountOf(told, told.at));

/** The purchase as it was in the period of the transaction. */
export const pastLine = (told: Told): Line =>
  lineOf(told, { ...accountOf(told, told.transaction.purchaseDate), statuses: [] });

function accountOf({ status, transaction, renewal }: Told, asOf: Millis): Account {
  const statuses = status === undefined ? [] : [fromSignedStatus(status, transaction, renewal)];
  return { transactions: [fromSignedTransaction(transaction)], statuses, asOf, isComplete: true };
}

/** The line that the transaction of a notification belongs to, with all that the account shows of it. */
export function lineOf({ transaction: { originalTransactionId } }: Told, account: Account): Line {
  const line = linesOf({ transactions: [] }, account, account.asOf ?? 0).find(
    (candidate) => candidate.originalTransactionId === originalTransactionId,
  );
  if (!line) throw new Error('the account does not hold the transaction of the notification');
  return line;
}
