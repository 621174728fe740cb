import { keptRate, type Priced, rateOf } from '../money/priced.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { Observation } from './observation.ts';
import type { Millis, Purchase } from './purchase.ts';

/** A transaction and the look that told of it. */
export interface KnownTransaction {
  readonly asOf: Millis;
  readonly transaction: Transaction;
}

/** All that is known of one purchase: the sum of every observation so far. */
export interface Known {
  readonly asOf: Millis;
  readonly purchase: Purchase;
  readonly transactions: readonly KnownTransaction[];
  readonly userTokens: readonly string[];
  /** Sealed: only the table's cipher opens it. */
  readonly refreshToken?: string;
}

/** An observation whose refresh token has been sealed. */
export type Seen = Omit<Observation, 'refreshToken'> & { readonly refreshToken?: string };

/**
 * Adds an observation to what is known. The state that speaks of the latest moment wins; transactions are collected one by
 * one. Twice is once, and any order of the same observations ends in the same result.
 */
export function merge(known: Known | undefined, observed: Seen): Known {
  const { replaces: _replaces, transactionsAsOf = observed.asOf, ...look } = observed;
  const news: Known = {
    ...look,
    transactions: mergeTransactions(
      [],
      observed.transactions.map((transaction) => ({ asOf: transactionsAsOf, transaction })),
    ),
    userTokens: [...new Set(observed.userTokens)].sort(),
  };
  if (!known) return { ...news, purchase: completed(news.purchase, news) };
  const [winner, loser] = isLater(news, known) ? [news, known] : [known, news];
  const transactions = mergeTransactions(known.transactions, news.transactions);
  const refreshToken = winner.refreshToken ?? loser.refreshToken;
  return {
    asOf: winner.asOf,
    purchase: completed(winner.purchase, { purchase: loser.purchase, transactions }),
    transactions,
    userTokens: [...new Set([...known.userTokens, ...news.userTokens])].sort(),
    ...(refreshToken && { refreshToken }),
  };
}

/** Later by the store's clock; two looks at one moment are ordered by their content, so that order of arrival is nothing. */
function isLater(one: Known, other: Known): boolean {
  if (one.asOf !== other.asOf) return one.asOf > other.asOf;
  return canonical(told(one.purchase)) > canonical(told(other.purchase));
}

/** The purchase without what `completed` may have filled in. */
function told(purchase: Purchase): object {
  const { productType, purchaseDate, renewalIntentChangeDate, lastRenewalDate, currency, amountMicros, ...rest } =
    unrated(purchase);
  return rest;
}

function mergeTransactions(one: readonly KnownTransaction[], other: readonly KnownTransaction[]): KnownTransaction[] {
  const byId = new Map(one.map((known) => [known.transaction.transactionId, known]));
  for (const candidate of other) {
    const present = byId.get(candidate.transaction.transactionId);
    byId.set(candidate.transaction.transactionId, present ? better(present, candidate) : candidate);
  }
  return [...byId.values()].sort(
    (a, b) =>
      a.transaction.purchaseDate - b.transaction.purchaseDate ||
      (a.transaction.transactionId < b.transaction.transactionId ? -1 : 1),
  );
}

/** Of two reports of a transaction the one that counts, with the best rate that either has for its amount. */
function better(one: KnownTransaction, other: KnownTransaction): KnownTransaction {
  const [winner, loser] = rank(other) > rank(one) ? [other, one] : [one, other];
  const rate = keptRate(winner.transaction, loser.transaction);
  return { ...winner, transaction: { ...unrated(winner.transaction), ...rate } };
}

/** The store's amount beats the client's, any amount beats none; then the later look, then the content. */
function rank({ asOf, transaction }: KnownTransaction): string {
  const amount = transaction.amountMicros === undefined ? 0 : transaction.isReportedAmount ? 1 : 2;
  return `${amount}#${String(asOf).padStart(16, '0')}#${canonical(unrated(transaction))}`;
}

/** Without the rate, which depends on the currency and the date and on no look. */
const unrated = <T extends Priced>({ usdRate, usdRateDate, ...record }: T): Omit<T, keyof Priced> => record;

/** Fills in what the winning look need not repeat: type, first date, date of the change of intent, last renewal, amount. */
function completed(
  purchase: Purchase,
  known: { readonly purchase: Purchase; readonly transactions: readonly KnownTransaction[] },
): Purchase {
  const latest = known.transactions.find(
    ({ transaction }) => transaction.transactionId === purchase.transactionId,
  )?.transaction;
  const purchaseDate = earliest(purchase.purchaseDate, known.purchase.purchaseDate);
  const changeDate = newest(purchase.renewalIntentChangeDate, known.purchase.renewalIntentChangeDate);
  const expirationDate = purchase.expirationDate ?? knownLength(purchase, known.purchase);
  const productType = purchase.productType ?? known.purchase.productType;
  const lastRenewalDate = purchase.lastRenewalDate ?? renewalDate(latest, purchaseDate);
  return {
    ...unrated(purchase),
    ...(productType !== undefined && { productType }),
    ...(purchaseDate !== undefined && { purchaseDate }),
    ...(changeDate !== undefined && { renewalIntentChangeDate: changeDate }),
    ...(lastRenewalDate !== undefined && { lastRenewalDate }),
    ...(expirationDate !== undefined && { expirationDate }),
    ...(latest?.currency !== undefined && { currency: latest.currency }),
    ...(latest?.amountMicros !== undefined && { amountMicros: latest.amountMicros }),
    ...(latest && rateOf(latest)),
  };
}

/** Stores do not know the length of a non-renewing subscription; a look that was told of it does, for its period. */
const knownLength = (purchase: Purchase, known: Purchase): Millis | undefined =>
  purchase.productType === 'non renewing subscription' && purchase.transactionId === known.transactionId
    ? known.expirationDate
    : undefined;

const renewalDate = (latest: Transaction | undefined, first: Millis | undefined): Millis | undefined =>
  latest?.expirationDate !== undefined && first !== undefined && latest.purchaseDate > first
    ? latest.purchaseDate
    : undefined;

const earliest = (a?: Millis, b?: Millis): Millis | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
const newest = (a?: Millis, b?: Millis): Millis | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

/** The same text for the same content, whatever the order of its keys. */
export const canonical = (record: object): string =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
