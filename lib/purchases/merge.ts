import { omitUsdRate, pickUsdRate } from '../money/usd-conversion.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toCanonicalJson } from './canonical-json.ts';
import { mergeTransactions, type ObservedTransaction, toObservedTransaction } from './merge-transactions.ts';
import type { Observation } from './observation.ts';
import type { Purchase } from './purchase.ts';
import type { Transaction } from './transaction.ts';

/** All that is known of one purchase: the sum of every observation so far. */
export interface PurchaseState {
  readonly asOf: EpochMillis;
  readonly purchase: Purchase;
  readonly transactions: readonly ObservedTransaction[];
  readonly userAliases: readonly string[];
  /** Sealed: only the table's cipher opens it. */
  readonly refreshToken?: string;
}

/** An observation whose refresh token has been sealed. */
export type EncryptedObservation = Omit<Observation, 'refreshToken'> & { readonly refreshToken?: string };

/**
 * Adds an observation to what is known. The state that speaks of the latest moment wins; transactions are collected one by
 * one. Twice is once, and any order of the same observations ends in the same result.
 */
export function merge(known: PurchaseState | undefined, observed: EncryptedObservation): PurchaseState {
  const { replacedPurchaseId: _replaces, transactionsAsOf = observed.asOf, ...observation } = observed;
  const incoming: PurchaseState = {
    ...observation,
    transactions: mergeTransactions(
      [],
      observed.transactions.map((transaction) => toObservedTransaction(transaction, transactionsAsOf)),
    ),
    userAliases: [...new Set(observed.userAliases)].sort(),
  };
  if (!known) return { ...incoming, purchase: fillDerivedFields(incoming.purchase, incoming) };
  const [latest, other] = isLaterState(incoming, known) ? [incoming, known] : [known, incoming];
  const transactions = mergeTransactions(known.transactions, incoming.transactions);
  const refreshToken = latest.refreshToken ?? other.refreshToken;
  return {
    asOf: latest.asOf,
    purchase: fillDerivedFields(latest.purchase, { purchase: other.purchase, transactions }),
    transactions,
    userAliases: [...new Set([...known.userAliases, ...incoming.userAliases])].sort(),
    ...(refreshToken && { refreshToken }),
  };
}

/** Later by the store's clock; two looks at one moment are ordered by their content, so that order of arrival is nothing. */
function isLaterState(one: PurchaseState, other: PurchaseState): boolean {
  if (one.asOf !== other.asOf) return one.asOf > other.asOf;
  return toCanonicalJson(omitDerivedFields(one.purchase)) > toCanonicalJson(omitDerivedFields(other.purchase));
}

/** The purchase without what `completed` may have filled in. */
function omitDerivedFields(purchase: Purchase): object {
  const { productType, purchaseDate, renewalIntentChangeDate, lastRenewalDate, currency, amountMicros, ...rest } =
    omitUsdRate(purchase);
  return rest;
}

/** Fills in what the winning look need not repeat: type, first date, date of the change of intent, last renewal, amount. */
function fillDerivedFields(
  purchase: Purchase,
  known: { readonly purchase: Purchase; readonly transactions: readonly ObservedTransaction[] },
): Purchase {
  const latest = known.transactions.find(
    ({ transaction }) => transaction.transactionId === purchase.transactionId,
  )?.transaction;
  const purchaseDate = earliest(purchase.purchaseDate, known.purchase.purchaseDate);
  const changeDate = newest(purchase.renewalIntentChangeDate, known.purchase.renewalIntentChangeDate);
  const expirationDate = purchase.expirationDate ?? keepKnownExpiration(purchase, known.purchase);
  const productType = purchase.productType ?? known.purchase.productType;
  const lastRenewalDate = purchase.lastRenewalDate ?? renewalDate(latest, purchaseDate);
  return {
    ...omitUsdRate(purchase),
    ...(productType !== undefined && { productType }),
    ...(purchaseDate !== undefined && { purchaseDate }),
    ...(changeDate !== undefined && { renewalIntentChangeDate: changeDate }),
    ...(lastRenewalDate !== undefined && { lastRenewalDate }),
    ...(expirationDate !== undefined && { expirationDate }),
    ...(latest?.currency !== undefined && { currency: latest.currency }),
    ...(latest?.amountMicros !== undefined && { amountMicros: latest.amountMicros }),
    ...(latest && pickUsdRate(latest)),
  };
}

/** Stores do not know the length of a non-renewing subscription; a look that was told of it does, for its period. */
const keepKnownExpiration = (purchase: Purchase, known: Purchase): EpochMillis | undefined =>
  purchase.productType === 'non renewing subscription' && purchase.transactionId === known.transactionId
    ? known.expirationDate
    : undefined;

const renewalDate = (latest: Transaction | undefined, first: EpochMillis | undefined): EpochMillis | undefined =>
  latest?.expirationDate !== undefined && first !== undefined && latest.purchaseDate > first
    ? latest.purchaseDate
    : undefined;

const earliest = (a?: EpochMillis, b?: EpochMillis): EpochMillis | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
const newest = (a?: EpochMillis, b?: EpochMillis): EpochMillis | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
