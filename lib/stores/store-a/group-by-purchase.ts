import type { EpochMillis } from '../../shared/time.ts';
import type { Evidence } from './evidence.ts';
import type { StoreAccount } from './fetch-account.ts';
import {
  findLatestTransaction,
  isLaterTransaction,
  type StoreTransaction,
  type SubscriptionStatus,
} from './store-transaction.ts';

/** The transactions of one purchase: everything that began with the same original transaction. */
export interface TransactionGroup {
  readonly originalTransactionId: string;
  readonly transactions: readonly [StoreTransaction, ...StoreTransaction[]];
  readonly latest: StoreTransaction;
  /** What Apple says of the subscription, when it speaks of the latest transaction. */
  readonly status?: SubscriptionStatus;
  /** The moment on Apple's clock up to which the purchase is known. */
  readonly asOf: EpochMillis;
}

/** The purchases that the evidence and the account show. */
export function groupByPurchase(
  evidence: Pick<Evidence, 'transactions'>,
  account: StoreAccount | undefined,
  now: EpochMillis,
): TransactionGroup[] {
  const fromAccount = groupByOriginalId([
    ...(account?.transactions ?? []),
    ...(account?.statuses ?? []).map(({ transaction }) => transaction),
  ]);
  const fromEvidence = groupByOriginalId(evidence.transactions);
  return [...new Set([...fromAccount.keys(), ...fromEvidence.keys()])].flatMap((originalTransactionId) => {
    const accountTransactions = fromAccount.get(originalTransactionId) ?? [];
    const newerTransactions = (fromEvidence.get(originalTransactionId) ?? []).filter((transaction) =>
      isNewerThanAll(transaction, accountTransactions),
    );
    const [first, ...others] = keepLatestSigned([...accountTransactions, ...newerTransactions]);
    if (!first) return [];
    const transactions = [first, ...others] as const;
    const latest = findLatestTransaction(transactions);
    const status = account?.statuses.find(
      ({ transaction }) => transaction.originalTransactionId === originalTransactionId,
    );
    const read = accountTransactions.length > 0 ? account?.asOf : undefined;
    return [
      {
        originalTransactionId,
        transactions,
        latest,
        ...(status && !isLaterTransaction(latest, status.transaction) && { status }),
        asOf: Math.max(
          read ?? 0,
          newerTransactions.length > 0 || read === undefined ? getEvidenceAsOf(latest, now) : 0,
        ),
      },
    ];
  });
}

/**
 * A transaction that Apple's answer has not caught up with. Older ones that the answer leaves out are not news: receipts
 * list restored transactions under numbers of their own.
 */
function isNewerThanAll(transaction: StoreTransaction, accountTransactions: readonly StoreTransaction[]): boolean {
  return accountTransactions.every(
    (other) => other.transactionId !== transaction.transactionId && isLaterTransaction(transaction, other),
  );
}

/** What signed evidence tells was so at the purchase or its revocation; signing it again later adds nothing. */
function getEvidenceAsOf(
  { purchaseDate, revokedAt = purchaseDate, signedAt }: StoreTransaction,
  now: EpochMillis,
): EpochMillis {
  // A renewal may be signed before its period begins.
  return Math.min(Math.max(purchaseDate, revokedAt), signedAt ?? now);
}

function groupByOriginalId(transactions: readonly StoreTransaction[]): Map<string, StoreTransaction[]> {
  const lines = new Map<string, StoreTransaction[]>();
  for (const transaction of transactions) {
    const line = lines.get(transaction.originalTransactionId) ?? [];
    line.push(transaction);
    lines.set(transaction.originalTransactionId, line);
  }
  return lines;
}

/** One of each transaction id, the one that Apple signed last. */
function keepLatestSigned(transactions: readonly StoreTransaction[]): StoreTransaction[] {
  const newest = new Map<string, StoreTransaction>();
  for (const transaction of transactions) {
    const other = newest.get(transaction.transactionId);
    if (!other || (transaction.signedAt ?? 0) >= (other.signedAt ?? 0))
      newest.set(transaction.transactionId, transaction);
  }
  return [...newest.values()];
}
