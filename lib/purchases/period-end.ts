import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import { addBillingPeriods, type BillingPeriod } from '../foundation/billing-period.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { findTransaction, type PurchaseState } from './merge.ts';
import type { Observation } from './observation.ts';
import type { Purchase } from './purchase.ts';

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

type PeriodEnd = Pick<Purchase, 'expirationSource'> & { readonly expirationDate: EpochMillis };

function resolveEnd(
  { purchase, transactions }: PurchaseState,
  { before, reportedPeriod }: PeriodContext,
  cataloguePeriod: BillingPeriod | undefined,
): PeriodEnd | undefined {
  const paidAt = findTransaction(transactions, purchase.transactionId)?.purchaseDate ?? purchase.purchaseDate;
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
