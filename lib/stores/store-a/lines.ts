import type { Millis } from '../../purchases/purchase.ts';
import type { Account } from './account.ts';
import type { Evidence } from './evidence.ts';
import { isLater, latestOf, type StoreTransaction, type SubscriptionStatus } from './store-transaction.ts';

/** The transactions of one purchase: everything that began with the same original transaction. */
export interface Line {
  readonly originalTransactionId: string;
  readonly transactions: readonly [StoreTransaction, ...StoreTransaction[]];
  readonly latest: StoreTransaction;
  /** What Apple says of the subscription, when it speaks of the latest transaction. */
  readonly status?: SubscriptionStatus;
  /** The moment on Apple's clock up to which the purchase is known. */
  readonly asOf: Millis;
}

/** The purchases that the evidence and the account show. */
export function linesOf(evidence: Pick<Evidence, 'transactions'>, account: Account | undefined, now: Millis): Line[] {
  const told = byLine([
    ...(account?.transactions ?? []),
    ...(account?.statuses ?? []).map(({ transaction }) => transaction),
  ]);
  const shown = byLine(evidence.transactions);
  return [...new Set([...told.keys(), ...shown.keys()])].flatMap((originalTransactionId) => {
    const known = told.get(originalTransactionId) ?? [];
    const news = (shown.get(originalTransactionId) ?? []).filter((transaction) => isNews(transaction, known));
    const [first, ...others] = newestOfEach([...known, ...news]);
    if (!first) return [];
    const transactions = [first, ...others] as const;
    const latest = latestOf(transactions);
    const status = account?.statuses.find(
      ({ transaction }) => transaction.originalTransactionId === originalTransactionId,
    );
    const read = known.length > 0 ? account?.asOf : undefined;
    return [
      {
        originalTransactionId,
        transactions,
        latest,
        ...(status && !isLater(latest, status.transaction) && { status }),
        asOf: Math.max(read ?? 0, news.length > 0 || read === undefined ? knownUntil(latest, now) : 0),
      },
    ];
  });
}

/**
 * A transaction that Apple's answer has not caught up with. Older ones that the answer leaves out are not news: receipts
 * list restored transactions under numbers of their own.
 */
function isNews(transaction: StoreTransaction, known: readonly StoreTransaction[]): boolean {
  return known.every((other) => other.transactionId !== transaction.transactionId && isLater(transaction, other));
}

/** What signed evidence tells was so at the purchase or its revocation; signing it again later adds nothing. */
function knownUntil({ purchaseDate, revokedAt = purchaseDate, signedAt }: StoreTransaction, now: Millis): Millis {
  // A renewal may be signed before its period begins.
  return Math.min(Math.max(purchaseDate, revokedAt), signedAt ?? now);
}

function byLine(transactions: readonly StoreTransaction[]): Map<string, StoreTransaction[]> {
  const lines = new Map<string, StoreTransaction[]>();
  for (const transaction of transactions) {
    const line = lines.get(transaction.originalTransactionId) ?? [];
    line.push(transaction);
    lines.set(transaction.originalTransactionId, line);
  }
  return lines;
}

/** One of each transaction id, the one that Apple signed last. */
function newestOfEach(transactions: readonly StoreTransaction[]): StoreTransaction[] {
  const newest = new Map<string, StoreTransaction>();
  for (const transaction of transactions) {
    const other = newest.get(transaction.transactionId);
    if (!other || (transaction.signedAt ?? 0) >= (other.signedAt ?? 0))
      newest.set(transaction.transactionId, transaction);
  }
  return [...newest.values()];
}
