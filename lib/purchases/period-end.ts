import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import { addBillingPeriods, type BillingPeriod } from '../foundation/billing-period.ts';
import { platformTokens } from '../foundation/platform.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import { type PurchaseState, selectTransaction } from './merge.ts';
import type { Observation } from './observation.ts';
import type { Purchase } from './purchase.ts';
import type { PlanPrice, Transaction } from './transaction.ts';

interface PeriodContext {
  /** State before the observation. */
  readonly before: PurchaseState | undefined;
  readonly observation: Pick<Observation, 'purchase' | 'hasUnknownEnd'>;
  readonly catalogue: Catalogue | undefined;
  /** Billing period in the request of a client. */
  readonly reportedPeriod: BillingPeriod | undefined;
}

/** Maximum period that a client can state, and the assumed one if it states none. */
const maxReportedPeriod: BillingPeriod = 'P1Y';

/** Assumed billing period of an auto-renewing subscription. */
const assumedBillingPeriod: BillingPeriod = 'P1M';

type PeriodEnd = Pick<Purchase, 'expirationSource'> & { readonly expirationDate: EpochMillis };

interface ExtensionContext {
  /** State before the observation. */
  readonly before: PurchaseState | undefined;
  readonly observation: Pick<Observation, 'transactions' | 'hasUnknownEnd'>;
}

/** Stores extend a period by whole days. */
const minExtensionMs = 12 * hourMs;

/**
 * Completes a merged state with details that the store does not report: the type of the product from the catalogue, and
 * the end of a subscription. The end comes from the catalogue, otherwise from the first client that states it, and is
 * at most a year after the payment. A later statement never changes it.
 */
export function completeState(state: PurchaseState, context: PeriodContext): PurchaseState {
  const product = findCatalogueProduct(context.catalogue, state.purchase.productId);
  const productType = state.purchase.productType ?? product?.type;
  const purchase = { ...state.purchase, ...(productType && { productType }) };
  const { observation } = context;
  const isEndMissing =
    observation.hasUnknownEnd === true ||
    (productType === 'non renewing subscription' && observation.purchase.expirationDate === undefined);
  const end = isEndMissing ? resolveEnd({ ...state, purchase }, context, product?.billingPeriod) : undefined;
  if (!end) return { ...state, purchase };
  const transactions = state.transactions.map((observed) =>
    observed.transaction.transactionId === purchase.transactionId
      ? { ...observed, transaction: { ...observed.transaction, expirationDate: end.expirationDate } }
      : observed,
  );
  const { expirationSource: _source, ...rest } = purchase;
  return { ...state, purchase: { ...rest, ...end }, transactions };
}

function resolveEnd(
  { purchase, transactions }: PurchaseState,
  { before, reportedPeriod }: PeriodContext,
  cataloguePeriod: BillingPeriod | undefined,
): PeriodEnd | undefined {
  const paidAt = selectTransaction(transactions, purchase.transactionId)?.purchaseDate ?? purchase.purchaseDate;
  const stored = before?.purchase.transactionId === purchase.transactionId ? pickEnd(before.purchase) : undefined;
  const isReportedByStore = stored && stored.expirationSource === undefined;
  if (isReportedByStore || paidAt === undefined) return stored;
  if (cataloguePeriod) {
    return { expirationDate: addBillingPeriods(paidAt, cataloguePeriod), expirationSource: 'catalogue' };
  }
  if (stored && stored.expirationSource !== 'assumed') return stored;
  const isRenewing = purchase.productType !== 'non renewing subscription';
  const assumedPeriod = isRenewing ? assumedBillingPeriod : maxReportedPeriod;
  if (!reportedPeriod) {
    return stored ?? { expirationDate: addBillingPeriods(paidAt, assumedPeriod), expirationSource: 'assumed' };
  }
  const limit = addBillingPeriods(paidAt, maxReportedPeriod);
  return {
    expirationDate: Math.min(addBillingPeriods(paidAt, reportedPeriod), stored?.expirationDate ?? limit, limit),
    expirationSource: 'client',
  };
}

const pickEnd = ({ expirationDate, expirationSource }: Purchase): PeriodEnd | undefined =>
  expirationDate === undefined ? undefined : { expirationDate, ...(expirationSource && { expirationSource }) };

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
