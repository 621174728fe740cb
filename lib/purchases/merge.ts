import { omitUsdRate, pickUsdRate } from '../money/usd-conversion.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toCanonicalJson } from './canonical-json.ts';
import { mergeTransactions, type ObservedTransaction, toObservedTransaction } from './merge-transactions.ts';
import type { Observation } from './observation.ts';
import type { Purchase } from './purchase.ts';
import { mergeRenewalIntent } from './renewal-intent.ts';
import { chooseLaterConsumption } from './service-consumption.ts';
import type { Transaction } from './transaction.ts';

/** The merge of all observations of a purchase. */
export interface PurchaseState {
  readonly asOf: EpochMillis;
  readonly purchase: Purchase;
  readonly transactions: readonly ObservedTransaction[];
  readonly userAliases: readonly string[];
  /** Encrypted. */
  readonly refreshToken?: string;
}

/** An observation whose refresh token is encrypted. */
export type EncryptedObservation = Omit<Observation, 'refreshToken'> & { readonly refreshToken?: string };

/**
 * Merges an observation into the purchase state. The state with the later as-of time wins; transactions are merged by id.
 * Idempotent and commutative: neither repetition nor order of the observations changes the result.
 */
export function merge(state: PurchaseState | undefined, observation: EncryptedObservation): PurchaseState {
  const incoming = toPurchaseState(observation);
  if (!state) return { ...incoming, purchase: fillDerivedFields(incoming.purchase, incoming) };
  const [latest, earlier] = isLaterState(incoming, state) ? [incoming, state] : [state, incoming];
  const transactions = mergeTransactions(state.transactions, incoming.transactions);
  const refreshToken = latest.refreshToken ?? earlier.refreshToken;
  return {
    asOf: latest.asOf,
    purchase: fillDerivedFields(latest.purchase, { purchase: earlier.purchase, transactions }),
    transactions,
    userAliases: toSortedSet([...state.userAliases, ...incoming.userAliases]),
    ...(refreshToken && { refreshToken }),
  };
}

function toPurchaseState({
  replacedPurchaseId: _replacedPurchaseId,
  checkoutUsername: _checkoutUsername,
  transactionsAsOf,
  ...observation
}: EncryptedObservation): PurchaseState {
  const transactions = observation.transactions.map((transaction) =>
    toObservedTransaction(transaction, transactionsAsOf ?? observation.asOf),
  );
  return {
    ...observation,
    transactions: mergeTransactions([], transactions),
    userAliases: toSortedSet(observation.userAliases),
  };
}

const toSortedSet = (values: readonly string[]): string[] => [...new Set(values)].sort();

/** Whether `a` is later. States with the same as-of time are ordered by content, so that the merge is commutative. */
function isLaterState(a: PurchaseState, b: PurchaseState): boolean {
  if (a.asOf !== b.asOf) return a.asOf > b.asOf;
  return toCanonicalJson(omitDerivedFields(a.purchase)) > toCanonicalJson(omitDerivedFields(b.purchase));
}

/** Removes the fields that `fillDerivedFields` and `completeState` can set. */
function omitDerivedFields(purchase: Purchase): object {
  const { productType, purchaseDate, renewalIntentChangeDate, lastRenewalDate, currency, amountMicros, ...rest } =
    omitUsdRate(purchase);
  const { serviceConsumption: _, expirationSource, expirationDate, renewalIntentDates, ...reported } = rest;
  return { ...reported, ...(!expirationSource && expirationDate !== undefined && { expirationDate }) };
}

/** Sets the fields that the latest observation can lack, from the earlier state and the latest transaction. */
function fillDerivedFields(
  purchase: Purchase,
  { purchase: earlier, transactions }: Pick<PurchaseState, 'purchase' | 'transactions'>,
): Purchase {
  const transaction = transactions.find(
    (observed) => observed.transaction.transactionId === purchase.transactionId,
  )?.transaction;
  const { renewalIntentChangeDate: _date, renewalIntentDates: _dates, ...rest } = purchase;
  const purchaseDate = chooseEarlier(purchase.purchaseDate, earlier.purchaseDate);
  return {
    ...omitUsdRate(rest),
    ...mergeRenewalIntent(purchase, earlier),
    ...omitUndefined({
      productType: purchase.productType ?? earlier.productType,
      purchaseDate,
      lastRenewalDate: purchase.lastRenewalDate ?? findRenewalDate(transaction, purchaseDate),
      serviceConsumption: chooseLaterConsumption(purchase.serviceConsumption, earlier.serviceConsumption),
      currency: transaction?.currency,
      amountMicros: transaction?.amountMicros,
    }),
    ...(transaction && pickUsdRate(transaction)),
  };
}

/** Returns the date of the latest transaction if it is a renewal. */
const findRenewalDate = (
  transaction: Transaction | undefined,
  purchaseDate: EpochMillis | undefined,
): EpochMillis | undefined =>
  transaction?.isRenewal !== false &&
  transaction?.expirationDate !== undefined &&
  purchaseDate !== undefined &&
  transaction.purchaseDate > purchaseDate
    ? transaction.purchaseDate
    : undefined;

const chooseEarlier = (a?: EpochMillis, b?: EpochMillis): EpochMillis | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
