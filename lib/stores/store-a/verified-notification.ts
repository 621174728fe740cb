import type { EpochMillis } from '../../shared/time.ts';
import type { StoreAccount } from './fetch-account.ts';
import { groupByPurchase, type TransactionGroup } from './group-by-purchase.ts';
import type { SignedParts } from './parse-notification.ts';
import { fromSignedStatus, fromSignedTransaction } from './signed-transaction.ts';

/** What the signed parts of a notification tell, of which type it is, and when Apple signed it. */
export interface VerifiedNotification extends SignedParts {
  readonly type: string;
  readonly at: EpochMillis;
}

/** These name the transaction that they are about, of whichever period it is; all others name the latest. */
const anyPeriodTypes = new Set(['REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED']);

const [expired, revoked] = [2, 5];

/** Whether the parts alone tell the present state, and not only that of a period that may be long past. */
export function isNotificationCurrent({ type, at, status, transaction }: VerifiedNotification): boolean {
  const { expiresDate, revocationDate, isUpgraded } = transaction;
  if (!anyPeriodTypes.has(type) || expiresDate === undefined) return true;
  const isEnded = revocationDate !== undefined || isUpgraded === true;
  if (status === expired || status === revoked) return isEnded;
  // While the subscription is in force, what was taken back is not what it runs on.
  return expiresDate > at && (status === undefined || !isEnded);
}

/** The purchase as the parts show it at the moment of the notification. */
export const toCurrentGroup = (told: VerifiedNotification): TransactionGroup =>
  findOwnGroup(told, toAccount(told, told.at));

/** The purchase as it was in the period of the transaction. */
export const toPastGroup = (told: VerifiedNotification): TransactionGroup =>
  findOwnGroup(told, { ...toAccount(told, told.transaction.purchaseDate), statuses: [] });

function toAccount({ status, transaction, renewal }: VerifiedNotification, asOf: EpochMillis): StoreAccount {
  const statuses = status === undefined ? [] : [fromSignedStatus(status, transaction, renewal)];
  return { transactions: [fromSignedTransaction(transaction)], statuses, asOf, isComplete: true };
}

/** The line that the transaction of a notification belongs to, with all that the account shows of it. */
export function findOwnGroup(
  { transaction: { originalTransactionId } }: VerifiedNotification,
  account: StoreAccount,
): TransactionGroup {
  const line = groupByPurchase({ transactions: [] }, account, account.asOf ?? 0).find(
    (candidate) => candidate.originalTransactionId === originalTransactionId,
  );
  if (!line) throw new Error('the account does not hold the transaction of the notification');
  return line;
}
