import { groupBy } from '../../foundation/collections.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Evidence } from './evidence.ts';
import type { StoreAccount } from './fetch-account.ts';
import { isSameSale, mergeSales } from './sales.ts';
import {
  findLatestTransaction,
  isLaterTransaction,
  type StoreTransaction,
  type SubscriptionStatus,
} from './store-transaction.ts';

/** The transactions of one purchase. They share the original transaction id. */
export interface TransactionGroup {
  readonly originalTransactionId: string;
  readonly transactions: readonly [StoreTransaction, ...StoreTransaction[]];
  readonly latest: StoreTransaction;
  /** The status of the auto-renewable subscription if it refers to `latest`. */
  readonly status?: SubscriptionStatus;
  /** The as-of time of the purchase state. */
  readonly asOf: EpochMillis;
  /** The evidence contains no state: see `Observation`. */
  readonly isInferred?: true;
  readonly transactionsAsOf: EpochMillis;
}

/** Groups the transactions of the evidence and of the account by purchase. */
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
    const [first, ...rest] = mergeSales([...accountTransactions, ...newerTransactions]);
    if (!first) return [];
    const transactions = [first, ...rest] as const;
    const latest = findLatestTransaction(transactions);
    const status = account?.statuses.find(
      ({ transaction }) => transaction.originalTransactionId === originalTransactionId,
    );
    const accountAsOf = accountTransactions.length > 0 ? account?.asOf : undefined;
    const usesEvidence = newerTransactions.length > 0 || accountAsOf === undefined;
    const evidenceDate = usesEvidence ? getEvidenceDate(latest, now) : 0;
    return [
      {
        originalTransactionId,
        transactions,
        latest,
        ...(status && appliesTo(status, latest) && { status }),
        ...(usesEvidence ? toEvidenceAsOf(latest, evidenceDate) : { asOf: accountAsOf }),
        transactionsAsOf: Math.max(accountAsOf ?? 0, evidenceDate),
      },
    ];
  });
}

/** Only auto-renewable subscriptions have an expiration date and a status. */
const appliesTo = (status: SubscriptionStatus, latest: StoreTransaction): boolean =>
  latest.expiresDate !== undefined && !isLaterTransaction(latest, status.transaction);

/** The API response can lag behind the evidence. Older transactions, and transactions of the same sale, are ignored. */
const isNewerThanAll = (transaction: StoreTransaction, accountTransactions: readonly StoreTransaction[]): boolean =>
  accountTransactions.every(
    (candidate) => !isSameSale(candidate, transaction) && isLaterTransaction(transaction, candidate),
  );

/**
 * Returns the date up to which signed evidence is complete: the date of the purchase, revocation or replacement. A
 * later signing date adds nothing. A renewal can be signed before its purchase date.
 */
const getEvidenceDate = (
  { purchaseDate, revokedAt = purchaseDate, replacedAt = purchaseDate, signedAt }: StoreTransaction,
  now: EpochMillis,
): EpochMillis => Math.min(Math.max(purchaseDate, revokedAt, replacedAt), signedAt ?? now);

/**
 * Evidence does not contain a status. An active transaction says nothing about the renewal, so every status of the same
 * transaction is newer. A revocation is newer than a status before it, and older than a status of the same date.
 */
const toEvidenceAsOf = ({ revokedAt, replacedAt }: StoreTransaction, date: EpochMillis) =>
  revokedAt === undefined && replacedAt === undefined
    ? ({ asOf: date, isInferred: true } as const)
    : { asOf: date - 1 };

const groupByOriginalId = (transactions: readonly StoreTransaction[]): ReadonlyMap<string, StoreTransaction[]> =>
  groupBy(transactions, ({ originalTransactionId }) => originalTransactionId);

/** Lists the transactions of the current period. */
const listPeriodTransactions = ({ latest, transactions }: TransactionGroup): StoreTransaction[] =>
  latest.sharesPeriod
    ? transactions.filter(({ sharesPeriod, expiresDate }) => sharesPeriod && expiresDate === latest.expiresDate)
    : [latest];

/** Returns the units of the latest transaction, or the seats of the period that are not refunded. */
export function countUnits(group: TransactionGroup): number | undefined {
  const { sharesPeriod, revokedSeats, quantity } = group.latest;
  if (!sharesPeriod && !revokedSeats) return quantity;
  return listPeriodTransactions(group).reduce((sum, transaction) => sum + countValidSeats(transaction), 0);
}

const countValidSeats = ({ quantity = 1, revokedSeats = 0, revokedAt }: StoreTransaction): number =>
  revokedAt === undefined ? quantity - revokedSeats : 0;
