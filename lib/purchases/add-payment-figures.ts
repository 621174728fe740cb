import type { CommissionRates } from '../apps/app.ts';
import { findShares } from '../apps/commission-rates.ts';
import { addBillingPeriods } from '../foundation/billing-period.ts';
import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { toCountry } from '../foundation/country.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import { isUnconverted } from '../money/usd-conversion.ts';
import type { PurchaseState } from './merge.ts';
import { findMergedId, type ObservedTransaction } from './merge-transactions.ts';
import { isPayment, listByDate, listPaidPeriods } from './paid-periods.ts';
import { computeMonthlyAmounts, computePeriodAmounts, toLocal } from './payment-amounts.ts';
import type { Payer, PaymentFigures, PreviousPeriod } from './payment-figures.ts';
import { isSubscription, type Purchase } from './purchase.ts';
import { getRenewalDelayMs, type Transaction } from './transaction.ts';

interface FiguresContext {
  readonly before: PurchaseState | undefined;
  /** The purchase that a new one replaces: the subscription continues. */
  readonly replaced: PurchaseState | undefined;
  readonly payer: Payer | undefined;
  readonly rates: CommissionRates;
  /** Recomputes the rates of commission, instead of the stored ones. */
  readonly isRestated?: boolean;
}

/** Stores renew up to minutes after the end of a period. */
const maxGapMs = hourMs;

/** An interruption after which the App Store counts the year of paid service again. */
const maxServiceGapMs = 60 * dayMs;

/** Returns the first payment. */
export const findFirstPayment = ({ purchase, transactions }: PurchaseState): Transaction | undefined =>
  isCounted(purchase) ? listByDate(transactions).find(isPayment) : undefined;

/** Purchases that a family shares are not counted. */
const isCounted = ({ isSharedPurchase }: Purchase): boolean => !isSharedPurchase;

/** Adds the figures to the transactions of a state. Depends only on the transactions and the stored figures. */
export function addPaymentFigures(state: PurchaseState, context: FiguresContext): PurchaseState {
  if (!isCounted(state.purchase)) return state;
  const isRenewing = isSubscription(state.purchase) && state.purchase.productType !== 'non renewing subscription';
  const storedById = listStoredFigures(context.before?.transactions ?? [], state.transactions);
  const chain = isRenewing ? linkPeriods(state, { ...context, storedById }) : new Map();
  const customer = findCustomer(state, context);
  const firstPayment = listByDate(state.transactions).find(isPayment);
  const transactions = state.transactions.map((observed): ObservedTransaction => {
    const { transaction } = observed;
    if (transaction.isPending || transaction.sandbox !== state.purchase.sandbox) return observed;
    const link: Partial<PaymentFigures> = chain.get(transaction.transactionId) ?? {};
    const stored = context.isRestated ? undefined : storedById.get(transaction.transactionId);
    const shares = pickShares(stored) ?? pickShares(link) ?? lookUpShares(transaction, context, 0);
    const isFirstOfPayer = transaction === firstPayment && customer?.payerCreatedAt !== undefined;
    return {
      ...observed,
      figures: {
        ...link,
        ...shares,
        isByCell: true,
        ...(customer && { customerSince: customer.since }),
        ...(isFirstOfPayer && { payerCreatedAt: customer.payerCreatedAt }),
      },
    };
  });
  return { ...state, transactions };
}

/** Returns the stored figures by the ids that the sales have now. */
function listStoredFigures(
  before: readonly ObservedTransaction[],
  after: readonly ObservedTransaction[],
): Map<string, PaymentFigures | undefined> {
  const ids = new Set(after.map(({ transaction }) => transaction.transactionId));
  return new Map(
    before.map(({ transaction: { transactionId: id }, figures }) => [
      ids.has(id) ? id : (findMergedId(id, before, after) ?? id),
      figures,
    ]),
  );
}

type Shares = Pick<PaymentFigures, 'share' | 'taxShare'>;

const pickShares = ({ share, taxShare }: Partial<Shares> = {}): Shares | undefined =>
  share === undefined ? undefined : { share, ...omitUndefined({ taxShare }) };

const lookUpShares = (
  { platform, purchaseDate, storefront, expirationDate, taxMicros }: Transaction,
  { rates }: Pick<FiguresContext, 'rates'>,
  paidMs: number,
): Shares =>
  findShares(rates, {
    platform,
    date: purchaseDate,
    isSubscription: expirationDate !== undefined,
    country: toCountry(storefront),
    paidMs,
    hasTax: taxMicros !== undefined,
  });

/** Returns the customer of the purchase: the stored one, because a later owner does not change the cohort. */
function findCustomer({ purchase }: PurchaseState, { before, payer }: FiguresContext) {
  const stored = before?.transactions.flatMap(({ figures }) => figures ?? []) ?? [];
  const since = stored.find(({ customerSince }) => customerSince !== undefined)?.customerSince;
  const payerCreatedAt = stored.find((figures) => figures.payerCreatedAt !== undefined)?.payerCreatedAt;
  if (since !== undefined) return { since, ...omitUndefined({ payerCreatedAt }) };
  if (!payer) return undefined;
  const isFirst = payer.firstPurchaseId === purchase.purchaseId;
  return { since: payer.since, ...(isFirst && { payerCreatedAt: payer.createdAt }) };
}

interface ChainContext extends FiguresContext {
  readonly storedById: ReadonlyMap<string, PaymentFigures | undefined>;
}

/** A paid period with the figures that the next one refers to. */
interface PaidPeriod {
  readonly transaction: Transaction;
  readonly figures: PaymentFigures & { readonly end: EpochMillis };
}

/** Links the paid periods of an auto-renewing subscription: each one refers to the one before it, and to the first. */
function linkPeriods(state: PurchaseState, context: ChainContext): ReadonlyMap<string, Partial<PaymentFigures>> {
  const links = new Map<string, Partial<PaymentFigures>>();
  const origin = findOrigin(context);
  let previous = origin?.previous;
  let first = origin?.first;
  let paidMs = 0;
  const { periods, present, findWhole } = listPaidPeriods(state.purchase, state.transactions);
  const trial = findFirstTrial(state, periods[0]);
  const trialAt = trial?.purchaseDate ?? findReplacedTrial(context);
  for (const [index, transaction] of periods.entries()) {
    const { transactionId, purchaseDate, productId, storefront, plan } = transaction;
    const stored = context.storedById.get(transactionId);
    const whole = findWhole(transaction);
    const isPresent = transaction === present;
    const end = computeEnd(transaction, {
      stored,
      next: findNext(periods, index),
      refundedAt: (whole ?? transaction).refundedAt,
      purchase: isPresent ? state.purchase : undefined,
    });
    if (end <= purchaseDate) continue;
    if (previous && purchaseDate - previous.end > maxServiceGapMs) paidMs = 0;
    const shares = (context.isRestated ? undefined : pickShares(stored)) ?? lookUpShares(transaction, context, paidMs);
    const country = toCountry(storefront);
    const countedEnd = isPresent ? findCountedEnd(state.purchase, { stored, end }) : undefined;
    const isInvoluntary = isPresent ? isInvoluntaryEnd(state.purchase) : stored?.isInvoluntary;
    const figures = {
      ...shares,
      isByCell: true as const,
      end,
      ...omitUndefined({
        countedEnd,
        isInvoluntary: isInvoluntary ? (true as const) : undefined,
        isFurther: whole && (true as const),
        previous: previous && comparePrevious(previous, transaction, shares.share),
        firstPaidAt: first?.paidAt,
        firstProductId: first?.productId === productId ? undefined : first?.productId,
        firstCountry: first?.country === country ? undefined : first?.country,
        trialAt: first ? undefined : trialAt,
      }),
    };
    links.set(transactionId, figures);
    first ??= { paidAt: purchaseDate, productId, country };
    previous = toPrevious({ transaction, figures });
    // Free time, such as an extension of a period, is not paid service.
    paidMs += (plan ? Math.min(end, addBillingPeriods(purchaseDate, plan.period)) : end) - purchaseDate;
  }
  if (trial && !origin) links.set(trial.transactionId, { trialAt: trial.purchaseDate });
  return links;
}

/** Returns the next period. A payment for time that has passed, such as of an overdue invoice, does not start one. */
const findNext = (periods: readonly Transaction[], index: number): Transaction | undefined =>
  periods.slice(index + 1).find(({ purchaseDate, expirationDate = 0 }) => expirationDate > purchaseDate);

/** Returns the trial with which the subscription starts. */
const findFirstTrial = ({ transactions }: PurchaseState, firstPeriod: Transaction | undefined) => {
  const trial = listByDate(transactions).find(({ isTrialPeriod, isPending }) => isTrialPeriod && !isPending);
  return trial && trial.purchaseDate < (firstPeriod?.purchaseDate ?? Infinity) ? trial : undefined;
};

/** Returns the start of the trial of the replaced purchase, which is stored with the first period of this one. */
function findReplacedTrial({ before, replaced }: ChainContext): EpochMillis | undefined {
  if (before?.transactions.some(({ transaction }) => transaction.isTrialPeriod)) return undefined;
  const stored = [before, replaced].flatMap((state) => state?.transactions ?? []);
  return stored.flatMap(({ figures }) => figures?.trialAt ?? [])[0];
}

interface FirstPeriod {
  readonly paidAt: EpochMillis;
  readonly productId: string;
  readonly country: string;
}

type Flags = 'isInvoluntary' | 'isUnconverted';

interface Origin {
  readonly previous: Required<Omit<PreviousPeriod, Flags>> & Pick<PreviousPeriod, Flags>;
  readonly first: FirstPeriod;
}

/** Returns the last paid period of the replaced purchase, which is stored with the first period of this one. */
function findOrigin({ before, replaced }: ChainContext): Origin | undefined {
  const [stored] = listStoredPeriods(before);
  if (stored) return restoreOrigin(stored);
  const period = listStoredPeriods(replaced).at(-1);
  return period && { previous: toPrevious(period), first: getFirst(period) };
}

const listStoredPeriods = (state: PurchaseState | undefined): PaidPeriod[] =>
  (state?.transactions ?? [])
    .flatMap(({ transaction, figures }) =>
      figures?.end === undefined ? [] : [{ transaction, figures: { ...figures, end: figures.end } }],
    )
    .sort((a, b) => a.transaction.purchaseDate - b.transaction.purchaseDate);

/** Returns the origin that the earliest stored period has. Undefined if the subscription started with it. */
function restoreOrigin(period: PaidPeriod): Origin | undefined {
  const { transaction, figures } = period;
  const { previous } = figures;
  if (!previous) return undefined;
  return {
    previous: {
      ...previous,
      monthly: previous.monthly ?? [...computeMonthlyAmounts(transaction, figures.share, transaction.purchaseDate)],
      productId: previous.productId ?? transaction.productId,
      country: previous.country ?? toCountry(transaction.storefront),
      local: previous.local ?? [
        ...computeMonthlyAmounts(toLocal(transaction), figures.share, transaction.purchaseDate),
      ],
      // An earlier release has not stored the currency.
      currency: previous.currency ?? (figures.isByCell ? (transaction.currency ?? '') : ''),
    },
    first: getFirst(period),
  };
}

const getFirst = ({ transaction, figures }: PaidPeriod): FirstPeriod => ({
  paidAt: figures.firstPaidAt ?? transaction.purchaseDate,
  productId: figures.firstProductId ?? transaction.productId,
  country: figures.firstCountry ?? toCountry(transaction.storefront),
});

const toPrevious = ({ transaction, figures }: PaidPeriod): Origin['previous'] => ({
  end: figures.countedEnd ?? figures.end,
  monthly: [...computePeriodAmounts(transaction, figures, figures.end)] as [number, number, number, number],
  local: [...computeLocalAmounts({ transaction, figures })] as [number, number, number, number],
  currency: transaction.currency ?? '',
  productId: transaction.productId,
  country: toCountry(transaction.storefront),
  ...(figures.isInvoluntary && { isInvoluntary: true as const }),
  ...(isUnconverted(transaction) && { isUnconverted: true as const }),
});

/** Computes the monthly amounts at the end of a period in the currency of its payment. */
function computeLocalAmounts({ transaction, figures }: PaidPeriod) {
  const { previous, end } = figures;
  const monthly = previous?.local ?? previous?.monthly;
  const local = previous && { ...previous, ...(monthly && { monthly }) };
  return computePeriodAmounts(toLocal(transaction), { ...figures, ...(local && { previous: local }) }, end);
}

/** Leaves out what is the same in both periods: most renewals only store the end of the period before. */
function comparePrevious(previous: Origin['previous'], transaction: Transaction, share: number): PreviousPeriod {
  const { end, monthly, local, currency, productId, country, ...flags } = previous;
  const omitEqual = <T extends object>(amounts: T, own: readonly number[]): T | undefined =>
    toCanonicalJson(own) === toCanonicalJson(amounts) ? undefined : amounts;
  const { purchaseDate, currency: ownCurrency = '' } = transaction;
  const isLocal = currency === ownCurrency && currency !== 'USD' && currency !== '';
  return {
    end,
    ...omitUndefined({
      monthly: omitEqual(monthly, computeMonthlyAmounts(transaction, share, purchaseDate)),
      local: isLocal ? omitEqual(local, computeMonthlyAmounts(toLocal(transaction), share, purchaseDate)) : undefined,
      currency: currency === ownCurrency ? undefined : currency,
      productId: productId === transaction.productId ? undefined : productId,
      country: country === toCountry(transaction.storefront) ? undefined : country,
      ...flags,
    }),
  };
}

interface EndContext {
  readonly stored: PaymentFigures | undefined;
  readonly next: Transaction | undefined;
  /** When the payment of the whole period was refunded. */
  readonly refundedAt: EpochMillis | undefined;
  /** Set for the current period. */
  readonly purchase: Purchase | undefined;
}

/**
 * Computes the end of the paid time: the expiration date, a later end that the store granted (grace, extension), or an
 * earlier one (refund, revocation, next period).
 */
function computeEnd(
  { expirationDate = 0, purchaseDate }: Transaction,
  { stored, next, refundedAt = Infinity, purchase }: EndContext,
): EpochMillis {
  const grantedEnd = purchase ? purchase.expirationDate : stored?.end;
  const end = Math.max(expirationDate + getRenewalDelayMs(next), grantedEnd ?? 0);
  return Math.min(
    end,
    refundedAt,
    purchase?.endedAt ?? Infinity,
    next && next.purchaseDate - maxGapMs <= end ? Math.max(next.purchaseDate, purchaseDate) : Infinity,
  );
}

/**
 * Returns the end of the current period that was counted before another purchase replaced it. Google Play issues a
 * purchase for the new plan, and its first period, which can be stored before the end of the old one, has taken back
 * the counted end.
 */
function findCountedEnd(
  { cancelationReason }: Purchase,
  { stored, end }: { readonly stored: PaymentFigures | undefined; readonly end: EpochMillis },
): EpochMillis | undefined {
  const counted = stored?.countedEnd ?? stored?.end;
  const isReplaced = cancelationReason === 'System.Replaced';
  return isReplaced && counted !== undefined && counted > end ? counted : undefined;
}

/** The current period ends because the store cannot collect the next payment. */
const isInvoluntaryEnd = ({ cancelationReason, isBillingRetryPeriod }: Purchase): boolean =>
  isBillingRetryPeriod === true || cancelationReason === 'System.BillingError';
