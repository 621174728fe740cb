import { rateOf, unrated } from '../money/priced.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { canonical } from './canonical.ts';
import { type KnownTransaction, learned, mergeTransactions } from './known-transactions.ts';
import type { Observation } from './observation.ts';
import type { Millis, Purchase } from './purchase.ts';

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
      observed.transactions.map((transaction) => learned(transaction, transactionsAsOf)),
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
