import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { deriveStatus } from './classic-status.ts';
import type { StoreAccount } from './fetch-account.ts';
import { groupByPurchase, type TransactionGroup } from './group-by-purchase.ts';
import { getBaseType } from './notification-reason.ts';
import type { SignedParts } from './parse-notification.ts';
import { fromSignedStatus, fromSignedTransaction } from './signed-transaction.ts';
import { subscriptionStatuses } from './store-transaction.ts';
import { findRevocationDate } from './transaction-refunds.ts';

/** A notification with its verified parts. */
export interface VerifiedNotification extends SignedParts {
  readonly type: string;
  /** Date at which Apple signed the notification. */
  readonly occurredAt: EpochMillis;
}

const { active, gracePeriod } = subscriptionStatuses;

/** Types whose transaction can be of any period. The transaction of all other types is the latest one. */
const anyPeriodTypes = new Set(['REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED']);

/** A family member loses a past period with its refund, and can keep the running one. */
const isOfAnyPeriod = (type: string, status: number | undefined): boolean =>
  anyPeriodTypes.has(type) || (type === 'REVOKE' && (status === active || status === gracePeriod));

/** The signed parts contain the current state of the purchase, not only the state of a past period. */
export function isNotificationCurrent(notification: VerifiedNotification): boolean {
  const { type, occurredAt, transaction, status = deriveRunningStatus(notification) } = notification;
  const { expiresDate, isUpgraded } = transaction;
  if (!isOfAnyPeriod(getBaseType(type), status) || expiresDate === undefined) return true;
  const isEnded = findRevocationDate(transaction) !== undefined || isUpgraded === true;
  if (status === subscriptionStatuses.expired || status === subscriptionStatuses.revoked) return isEnded;
  // An active subscription does not run on a refunded or replaced transaction.
  return expiresDate > occurredAt && (status === undefined || !isEnded);
}

/** Returns the purchase as of the notification. */
export const toCurrentGroup = (notification: VerifiedNotification): TransactionGroup =>
  findOwnGroup(notification, toAccount(notification, notification.occurredAt));

/** Returns the purchase with a state that every other state of it replaces: only the transaction is current. */
export const toPastGroup = (notification: VerifiedNotification): TransactionGroup => {
  const { occurredAt, transaction } = notification;
  const group = findOwnGroup(notification, { ...toAccount(notification, occurredAt), statuses: [] });
  return { ...group, ...findRunningPeriod(notification, group), asOf: transaction.purchaseDate, isInferred: true };
};

/**
 * Finds the running period of a subscription whose past transaction was refunded. The renewal information contains its
 * product and its end. A transaction of an earlier period must not end it.
 */
function findRunningPeriod(
  notification: VerifiedNotification,
  { latest }: TransactionGroup,
): Pick<TransactionGroup, 'latest' | 'status'> | undefined {
  const { transaction, renewal, status = deriveMissingStatus(notification) } = notification;
  if (status !== active && status !== gracePeriod) return undefined;
  const { revokedAt: _revokedAt, replacedAt: _replacedAt, revocationReason: _reason, ...paid } = latest;
  const { productId = paid.productId, renewalDate = transaction.expiresDate } = renewal ?? {};
  const running = { ...paid, productId, ...omitUndefined({ expiresDate: renewalDate }) };
  return { latest: running, status: { ...fromSignedStatus(status, transaction, renewal), transaction: running } };
}

function toAccount(notification: VerifiedNotification, asOf: EpochMillis): StoreAccount {
  const { transaction, renewal } = notification;
  const status = notification.status ?? deriveMissingStatus(notification);
  const statuses = status === undefined ? [] : [fromSignedStatus(status, transaction, renewal)];
  return { transactions: [fromSignedTransaction(transaction)], statuses, asOf, isComplete: true };
}

/** Some notifications about a subscription contain its renewal but not its status. */
function deriveMissingStatus(notification: VerifiedNotification): number | undefined {
  const { transaction, renewal, occurredAt } = notification;
  if (!renewal) return undefined;
  const { gracePeriodExpiresDate, isInBillingRetryPeriod = false } = renewal;
  const runningStatus = deriveRunningStatus(notification);
  if (runningStatus !== undefined) return runningStatus;
  return deriveStatus(
    fromSignedTransaction(transaction),
    { ...omitUndefined({ graceEndsAt: gracePeriodExpiresDate }), isBillingRetry: isInBillingRetryPeriod },
    occurredAt,
  );
}

/**
 * Returns `active` if the renewal information is of a period after the one of the transaction, or of a period with
 * other transactions.
 */
function deriveRunningStatus({ transaction, renewal, occurredAt }: VerifiedNotification): number | undefined {
  const { expiresDate, additionalTransactionReason } = transaction;
  const { renewalDate = 0, isInBillingRetryPeriod = false } = renewal ?? {};
  const isOfOtherTransaction = renewalDate > (expiresDate ?? renewalDate) || additionalTransactionReason !== undefined;
  return isOfOtherTransaction && renewalDate > occurredAt && !isInBillingRetryPeriod ? active : undefined;
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
