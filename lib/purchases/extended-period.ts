import { addBillingPeriods } from '../foundation/billing-period.ts';
import { platformTokens } from '../foundation/platform.ts';
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

/**
 * Keeps the price of a period that the App Store extends for free: it moves the end of the payment, so that its length
 * is no longer that of the period that was paid, and no field has the former end. A payment that is first observed
 * after its extension counts for the longer time. Other stores keep that period, or report the plan.
 * @see https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
 */
export function keepPaidPeriods(state: PurchaseState, { before, observation }: ExtensionContext): PurchaseState {
  if (!before || before.purchase.expirationSource !== undefined || observation.hasUnknownEnd) return state;
  const known = [...before.transactions.map(({ transaction }) => transaction), ...observation.transactions];
  const transactions = state.transactions.map((observed) => {
    const plan = findPaidPlan(observed.transaction, known);
    return plan ? { ...observed, transaction: { ...observed.transaction, plan } } : observed;
  });
  return { ...state, transactions };
}

/** Finds what the period cost before it was extended. Undefined without an extension, or if the store reports it. */
function findPaidPlan(transaction: Transaction, known: readonly Transaction[]): PlanPrice | undefined {
  const { platform, plan, amountMicros = 0, purchaseDate, periodStartDate: start = purchaseDate } = transaction;
  if (platform !== platformTokens.appStore || plan || amountMicros <= 0) return undefined;
  const same = known.filter(({ transactionId }) => transactionId === transaction.transactionId);
  const end = Math.min(...same.map((other) => findPaidEnd(other, amountMicros)));
  const days = Math.round((end - start) / dayMs);
  const extendedEnd = transaction.isReplaced ? getWholeEnd(transaction) : (transaction.expirationDate ?? 0);
  return extendedEnd - end < minExtensionMs || days < 1 ? undefined : { amountMicros, period: `P${days}D` };
}

/** Returns the end of the paid period. The plan has the end before an earlier extension. */
function findPaidEnd(transaction: Transaction, amountMicros: number): EpochMillis {
  const { plan, purchaseDate, periodStartDate: start = purchaseDate, isReplaced, plannedExpirationDate } = transaction;
  if (plan?.amountMicros === amountMicros) return addBillingPeriods(start, plan.period);
  // Another plan has cut the period.
  return isReplaced && plannedExpirationDate === undefined ? Infinity : getWholeEnd(transaction);
}

const getWholeEnd = ({ expirationDate = Infinity, plannedExpirationDate = 0 }: Transaction): EpochMillis =>
  Math.max(expirationDate, plannedExpirationDate);
