import { omitUndefined } from '../foundation/omit-undefined.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import type { PurchaseState } from './merge.ts';
import type { Observation } from './observation.ts';
import type { PlanPrice, Transaction } from './transaction.ts';

interface ExtensionContext {
  /** State before the observation. */
  readonly before: PurchaseState | undefined;
  readonly observation: Pick<Observation, 'transactions' | 'hasUnknownEnd'>;
}

/** Stores extend a period by whole days. */
const minExtensionMs = 12 * hourMs;

/** Longest period in days that a plan can have. */
const maxDays = 1000;

/**
 * Keeps the price of a period that the store extends for free. The App Store moves the end of its payment, so that its
 * length is no longer that of the period that was paid.
 * @see https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
 */
export function keepPaidPeriods(state: PurchaseState, { before, observation }: ExtensionContext): PurchaseState {
  const isEstimated = before?.purchase.expirationSource !== undefined || observation.hasUnknownEnd === true;
  if (!before || isEstimated) return state;
  const known = [...before.transactions.map(({ transaction }) => transaction), ...observation.transactions];
  const transactions = state.transactions.map((observed) => {
    const { transaction } = observed;
    const plan = findPaidPlan(
      transaction,
      known.filter(({ transactionId }) => transactionId === transaction.transactionId),
    );
    return plan ? { ...observed, transaction: { ...transaction, plan } } : observed;
  });
  return { ...state, transactions };
}

/** Finds what the period cost before it was extended. Undefined without an extension, or if the store reports it. */
function findPaidPlan(transaction: Transaction, known: readonly Transaction[]): PlanPrice | undefined {
  const { plan, amountMicros = 0, taxMicros, purchaseDate, periodStartDate: start = purchaseDate } = transaction;
  if (plan || amountMicros <= 0 || transaction.isTrialPeriod) return undefined;
  const end = Math.min(...known.map((other) => findPaidEnd(other, amountMicros)));
  const days = Math.round((end - start) / dayMs);
  const extendedEnd = transaction.isReplaced ? getWholeEnd(transaction) : (transaction.expirationDate ?? 0);
  if (extendedEnd - end < minExtensionMs || end <= start || days > maxDays) return undefined;
  return { amountMicros, ...omitUndefined({ taxMicros }), period: `P${Math.max(1, days)}D` };
}

/** Returns the end of the period that was paid: that of an earlier extension is in its plan. */
function findPaidEnd(transaction: Transaction, amountMicros: number): EpochMillis {
  const { plan, purchaseDate, periodStartDate: start = purchaseDate, isReplaced, plannedExpirationDate } = transaction;
  const days = plan?.amountMicros === amountMicros ? Number(/^P(\d+)D$/.exec(plan.period)?.[1]) : Number.NaN;
  if (!Number.isNaN(days)) return start + days * dayMs;
  // Another plan has cut the period.
  return isReplaced && plannedExpirationDate === undefined ? Infinity : getWholeEnd(transaction);
}

const getWholeEnd = ({ expirationDate = Infinity, plannedExpirationDate = 0 }: Transaction): EpochMillis =>
  Math.max(expirationDate, plannedExpirationDate);
