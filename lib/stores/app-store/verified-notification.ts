import { omitUndefined } from '../../shared/omit-undefined.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { deriveStatus } from './classic-status.ts';
import type { StoreAccount } from './fetch-account.ts';
import { groupByPurchase, type TransactionGroup } from './group-by-purchase.ts';
import type { SignedParts } from './parse-notification.ts';
import { fromSignedStatus, fromSignedTransaction } from './signed-transaction.ts';
import { subscriptionStatuses } from './store-transaction.ts';

/** A notification with its verified parts. */
export interface VerifiedNotification extends SignedParts {
  readonly type: string;
  /** Date at which Apple signed the notification. */
  readonly occurredAt: EpochMillis;
}

/** Types whose transaction can be of any period. The transaction of all other types is the latest one. */
const anyPeriodTypes = new Set(['REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED']);

/** Whether the signed parts contain the current state of the purchase, not only that of a past period. */
export function isNotificationCurrent({ type, occurredAt, status, transaction }: VerifiedNotification): boolean {
  const { expiresDate, revocationDate, isUpgraded } = transaction;
  if (!anyPeriodTypes.has(type) || expiresDate === undefined) return true;
  const isEnded = revocationDate !== undefined || isUpgraded === true;
  if (status === subscriptionStatuses.expired || status === subscriptionStatuses.revoked) return isEnded;
  // An active subscription does not run on a refunded or replaced transaction.
  return expiresDate > occurredAt && (status === undefined || !isEnded);
}

/** Returns the purchase as of the notification. */
export const toCurrentGroup = (notification: VerifiedNotification): TransactionGroup =>
  findOwnGroup(notification, toAccount(notification, notification.occurredAt));

/** Returns the purchase with a state that every other state of it replaces: only the transaction is current. */
export const toPastGroup = (notification: VerifiedNotification): TransactionGroup => {
  const { occurredAt } = notification;
  const group = findOwnGroup(notification, { ...toAccount(notification, occurredAt), statuses: [] });
  return { ...group, asOf: notification.transaction.purchaseDate, isInferred: true };
};

function toAccount(notification: VerifiedNotification, asOf: EpochMillis): StoreAccount {
  const { transaction, renewal } = notification;
  const status = notification.status ?? deriveMissingStatus(notification);
  const statuses = status === undefined ? [] : [fromSignedStatus(status, transaction, renewal)];
  return { transactions: [fromSignedTransaction(transaction)], statuses, asOf, isComplete: true };
}

/** Some notifications about a subscription contain its renewal but not its status. */
function deriveMissingStatus({ transaction, renewal, occurredAt }: VerifiedNotification): number | undefined {
  if (!renewal) return undefined;
  const { gracePeriodExpiresDate, isInBillingRetryPeriod = false } = renewal;
  return deriveStatus(
    fromSignedTransaction(transaction),
    { ...omitUndefined({ graceEndsAt: gracePeriodExpiresDate }), isBillingRetry: isInBillingRetryPeriod },
    occurredAt,
  );
}

/** Returns the purchase that the notification concerns, with all its transactions in the account. */
export function findOwnGroup(
  { transaction: { originalTransactionId } }: VerifiedNotification,
  account: StoreAccount,
): TransactionGroup {
  const group = groupByPurchase({ transactions: [] }, account, account.asOf ?? 0).find(
    (candidate) => candidate.originalTransactionId === originalTransactionId,
  );
  if (!group) throw new Error('The account does not contain the transaction of the notification.');
  return group;
}
