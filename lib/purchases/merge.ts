import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { omitUsdRate, pickUsdRate } from '../money/usd-conversion.ts';
import {
  type AsOf,
  compareAsOf,
  findMergedId,
  mergeTransactions,
  type ObservedTransaction,
  toObservedTransaction,
} from './merge-transactions.ts';
import type { Observation } from './observation.ts';
import { chooseLaterNotice, type Purchase, withClawbackEnd, withoutClawbackEnd, withVoidReason } from './purchase.ts';
import { chooseLarger, chooseSmaller } from './refunds.ts';
import { chooseLaterConsumption } from './service-consumption.ts';
import type { Transaction } from './transaction.ts';

/** The merge of all observations of a purchase. */
export interface PurchaseState extends AsOf {
  readonly purchase: Purchase;
  readonly transactions: readonly ObservedTransaction[];
  readonly userAliases: readonly string[];
  /** Encrypted. */
  readonly refreshToken?: string;
}

/** An observation whose refresh token is encrypted. */
export type EncryptedObservation = Omit<Observation, 'refreshToken'> & { readonly refreshToken?: string };

type IntentDates = NonNullable<Purchase['renewalIntentDates']>;
type IntentFields = Pick<Purchase, 'renewalIntent' | 'renewalIntentChangeDate' | 'renewalIntentDates'>;

type DerivationSources = Pick<PurchaseState, 'purchase' | 'transactions'>;

/**
 * Merges an observation into the purchase state. The state with the later as-of time wins, for some stores the state
 * after the later transaction; transactions are merged by id. Idempotent and commutative: neither repetition nor order
 * of the observations changes the result.
 */
export function merge(state: PurchaseState | undefined, observation: EncryptedObservation): PurchaseState {
  const incoming = toPurchaseState(observation);
  const { isOrderedByTransaction = false } = observation;
  const derive = ({ purchase, asOf }: PurchaseState, sources: DerivationSources): Purchase => {
    // An earlier merge derived the date from fewer transactions.
    const { lastRenewalDate: _date, ...undated } = purchase;
    return fillDerivedFields(isOrderedByTransaction ? undated : purchase, { ...sources, asOf });
  };
  if (!state) return { ...incoming, purchase: derive(incoming, incoming) };
  const transactions = mergeTransactions(state.transactions, incoming.transactions);
  const unmerged = [...state.transactions, ...incoming.transactions];
  const before = { ...state, purchase: withMergedFields(state.purchase, unmerged, transactions) };
  const added = { ...incoming, purchase: withMergedFields(incoming.purchase, unmerged, transactions) };
  const transactionOrder = isOrderedByTransaction
    ? compareTransactionDates(added.purchase, before.purchase, transactions)
    : 0;
  const isIncomingLater = transactionOrder === 0 ? isLaterState(added, before) : transactionOrder > 0;
  const [latest, earlier] = isIncomingLater ? [added, before] : [before, added];
  const refreshToken = latest.refreshToken ?? earlier.refreshToken;
  return {
    asOf: latest.asOf,
    ...(latest.isInferred && { isInferred: latest.isInferred }),
    purchase: derive(latest, { purchase: earlier.purchase, transactions }),
    transactions,
    userAliases: toSortedSet([...state.userAliases, ...incoming.userAliases]),
    ...(refreshToken && { refreshToken }),
  };
}

function toPurchaseState({
  replacedPurchaseId: _replacedPurchaseId,
  relatedPurchaseId: _relatedPurchaseId,
  checkoutUsername: _checkoutUsername,
  isOrderedByTransaction: _isOrdered,
  transactionsAsOf,
  hasInferredTransactions,
  ...observation
}: EncryptedObservation): PurchaseState {
  const { asOf, isInferred } = observation;
  const transactionState: AsOf =
    transactionsAsOf === undefined
      ? { asOf, isInferred: hasInferredTransactions ?? isInferred }
      : { asOf: transactionsAsOf };
  const transactions = observation.transactions.map((transaction) =>
    toObservedTransaction(transaction, transactionState),
  );
  const merged = mergeTransactions([], transactions);
  return {
    ...observation,
    purchase: withMergedFields(observation.purchase, transactions, merged),
    transactions: merged,
    userAliases: toSortedSet(observation.userAliases),
  };
}

/** Sets what the merged transactions decide: the id of the latest one and why it was voided. */
function withMergedFields(
  purchase: Purchase,
  unmerged: readonly ObservedTransaction[],
  merged: readonly ObservedTransaction[],
): Purchase {
  const withId = withMergedId(withoutClawbackEnd(purchase), unmerged, merged);
  return withVoidReason(withId, selectTransaction(merged, withId.transactionId));
}

/** Replaces the id of the latest transaction by the id of its sale in the merged transactions. */
function withMergedId(
  purchase: Purchase,
  unmerged: readonly ObservedTransaction[],
  merged: readonly ObservedTransaction[],
): Purchase {
  return {
    ...purchase,
    transactionId: findMergedId(purchase.transactionId, unmerged, merged) ?? purchase.transactionId,
  };
}

/** Returns the earlier state with the transaction ids of a later one, so that both can be compared. */
export function withMergedIds(earlier: PurchaseState, { transactions: merged }: PurchaseState): PurchaseState {
  const ids = new Set(merged.map(({ transaction }) => transaction.transactionId));
  if (earlier.transactions.every(({ transaction }) => ids.has(transaction.transactionId))) return earlier;
  const unmerged = [...earlier.transactions, ...merged];
  const transactions = earlier.transactions.map((observed) => {
    const { transactionId: id } = observed.transaction;
    const transactionId = findMergedId(id, unmerged, merged) ?? id;
    return { ...observed, transaction: { ...observed.transaction, transactionId } };
  });
  return { ...earlier, purchase: withMergedId(earlier.purchase, unmerged, merged), transactions };
}

const toSortedSet = (values: readonly string[]): string[] => [...new Set(values)].sort();

/** Compares the dates of the transactions that two purchases describe. Returns 0 if a transaction is unknown. */
function compareTransactionDates(a: Purchase, b: Purchase, transactions: readonly ObservedTransaction[]): number {
  const [dateA, dateB] = [a, b].map(
    ({ transactionId }) => selectTransaction(transactions, transactionId)?.purchaseDate,
  );
  return dateA === undefined || dateB === undefined ? 0 : dateA - dateB;
}

export const selectTransaction = (transactions: readonly ObservedTransaction[], id: string): Transaction | undefined =>
  transactions.find(({ transaction }) => transaction.transactionId === id)?.transaction;

/** Orders states with the same as-of time by content, so that the merge is commutative. */
function isLaterState(a: PurchaseState, b: PurchaseState): boolean {
  const order = compareAsOf(a, b);
  if (order !== 0) return order > 0;
  return toCanonicalJson(omitDerivedFields(a.purchase)) > toCanonicalJson(omitDerivedFields(b.purchase));
}

/** Removes the fields that `fillDerivedFields`, `completeState` and `setUnverifiedEnd` can set. */
function omitDerivedFields(purchase: Purchase): object {
  const {
    productType,
    appTransactionId,
    purchaseDate,
    renewalIntentChangeDate,
    lastRenewalDate,
    currency,
    amountMicros,
    serviceConsumption,
    expirationSource,
    expirationDate,
    renewalIntentDates,
    unverifiedUntil,
    renewalNotice,
    awaitsCredentials,
    ...reported
  } = omitUsdRate(purchase);
  return { ...reported, ...(!expirationSource && expirationDate !== undefined && { expirationDate }) };
}

/** Sets the fields that the latest observation can lack, from the earlier state and the transactions. */
function fillDerivedFields(
  purchase: Purchase,
  { purchase: earlier, transactions, asOf }: DerivationSources & AsOf,
): Purchase {
  const transaction = selectTransaction(transactions, purchase.transactionId);
  const { renewalIntentChangeDate: _date, renewalIntentDates: _dates, ...rest } = purchase;
  const purchaseDate = chooseSmaller(purchase.purchaseDate, earlier.purchaseDate);
  const merged = {
    ...omitUsdRate(rest),
    ...mergeRenewalIntent(purchase, earlier),
    ...omitUndefined({
      productType: purchase.productType ?? earlier.productType,
      renewalNotice: chooseLaterNotice(purchase.renewalNotice, earlier.renewalNotice),
      appTransactionId: purchase.appTransactionId ?? earlier.appTransactionId,
      purchaseDate,
      lastRenewalDate: purchase.lastRenewalDate ?? findLastRenewalDate(transactions, purchaseDate),
      endedAt: purchase.endedAt && chooseSmaller(purchase.endedAt, findFirstRefundDate(transaction, transactions)),
      serviceConsumption: chooseLaterConsumption(purchase.serviceConsumption, earlier.serviceConsumption),
      currency: transaction?.currency,
      amountMicros: transaction?.amountMicros,
    }),
    ...(transaction && pickUsdRate(transaction)),
  };
  return withClawbackEnd(merged, transaction, asOf);
}

/**
 * The App Store reports the date of the latest refund. Access has ended with the first, unless that was reversed.
 * Stripe does not date a refund that a payment record reports. It can return an earlier payment, whose credit pays the
 * current period.
 */
function findFirstRefundDate(
  current: Transaction | undefined,
  transactions: readonly ObservedTransaction[],
): EpochMillis | undefined {
  const refunded = transactions.findLast(({ transaction }) => transaction.refundedAt !== undefined)?.transaction;
  return (
    (current?.refundedAt === undefined ? refunded : current)?.refundSeenAt ??
    current?.partialRefunds?.find(
      ({ latestDate, reversedAt, isSum }) => current.expirationDate && latestDate && !reversedAt && !isSum,
    )?.date
  );
}

/**
 * Returns the purchase date of the latest renewal. An immediate plan change is not a renewal. A renewal that the store
 * reports as such is one even if the period before it is not known.
 */
function findLastRenewalDate(
  transactions: readonly ObservedTransaction[],
  purchaseDate: EpochMillis | undefined,
): EpochMillis | undefined {
  const periods = transactions.map(({ transaction }) => transaction);
  return periods.findLast(
    (period, index) =>
      period.isRenewal !== false &&
      period.expirationDate !== undefined &&
      purchaseDate !== undefined &&
      period.purchaseDate > purchaseDate &&
      (period.isRenewal === true || !isImmediatePlanChange(periods[index - 1], period)),
  )?.purchaseDate;
}

/** The period replaced a period of a different product before its end. */
function isImmediatePlanChange(previous: Transaction | undefined, { productId, purchaseDate }: Transaction): boolean {
  if (!previous || previous.productId === productId) return false;
  const { isReplaced, expirationDate = 0, refundedAt = expirationDate } = previous;
  return isReplaced === true || Math.min(expirationDate, refundedAt) > purchaseDate;
}

/**
 * Merges the dates at which the customer chose each renewal intent. `renewalIntentChangeDate` is the date of the latest
 * state's intent; it is absent if the only known date is older than the choice of the other intent. Idempotent and
 * commutative.
 */
function mergeRenewalIntent(latest: IntentFields, earlier: IntentFields): Partial<IntentFields> {
  const renewalIntentDates = mergeDates(listIntentDates(latest), listIntentDates(earlier));
  const { renewalIntent } = latest;
  const date = renewalIntent && renewalIntentDates[renewalIntent];
  const otherDate = renewalIntentDates[renewalIntent === 'Lapse' ? 'Renew' : 'Lapse'] ?? Number.NEGATIVE_INFINITY;
  return {
    ...(Object.keys(renewalIntentDates).length > 0 && { renewalIntentDates }),
    ...(date !== undefined && date >= otherDate && { renewalIntentChangeDate: date }),
  };
}

const listIntentDates = ({ renewalIntent, renewalIntentChangeDate, renewalIntentDates }: IntentFields): IntentDates =>
  renewalIntentDates ??
  (renewalIntent && renewalIntentChangeDate !== undefined ? { [renewalIntent]: renewalIntentChangeDate } : {});

const mergeDates = (a: IntentDates, b: IntentDates): IntentDates =>
  omitUndefined({ Lapse: chooseLarger(a.Lapse, b.Lapse), Renew: chooseLarger(a.Renew, b.Renew) });
