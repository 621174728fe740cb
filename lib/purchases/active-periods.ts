import * as v from 'valibot';
import { OptionalBoolean, OptionalNumber } from '../api/schemas.ts';
import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import type { PurchaseState } from './merge.ts';
import { getAccessEnd, isActive, isSubscription, isUnpaid, type Purchase } from './purchase.ts';
import { getRenewalDelayMs, type Transaction } from './transaction.ts';

/** A time in which a subscription gave access with one product, from `from` (included) to `until` (excluded). */
export const ActivePeriod = v.object({
  productId: v.string(),
  from: v.number(),
  /** Undefined while the subscription is active. */
  until: OptionalNumber,
  isTrial: OptionalBoolean,
});
export type ActivePeriod = v.InferOutput<typeof ActivePeriod>;

/**
 * The active periods of a subscription, as far as the purchase does not show them. Absent if the subscription has been
 * active with one product from its purchase date to its end.
 */
export const StoredPeriods = v.object({
  /** The periods before the latest one, earliest first. All of them have ended. */
  earlier: v.array(ActivePeriod),
  /** Start of the latest period. */
  since: v.number(),
  /** End of the latest period if it ended before the end of access, for example by a pause. */
  until: OptionalNumber,
});
export type StoredPeriods = v.InferOutput<typeof StoredPeriods>;

/** The attributes of a purchase item that determine its active periods. */
export interface SubscriptionActivity {
  readonly purchase: Purchase;
  readonly createdAt: EpochMillis;
  readonly checkedAt: EpochMillis;
  readonly activePeriods?: StoredPeriods;
}

/** Stores renew up to minutes after the end of a period. A shorter gap does not end an active period. */
const maxGapMs = hourMs;

/**
 * Lists the active periods, earliest first. The latest period lacks an end if the subscription was active at the last
 * check.
 */
export function listActivePeriods({
  purchase,
  createdAt,
  checkedAt,
  activePeriods,
}: SubscriptionActivity): ActivePeriod[] {
  if (!isSubscription(purchase)) return [];
  const { earlier = [], since = purchase.purchaseDate ?? createdAt, until: storedUntil } = activePeriods ?? {};
  const until = isActive(purchase, checkedAt) ? undefined : Math.min(getAccessEnd(purchase), storedUntil ?? checkedAt);
  if (isUnpaid(purchase) || (until !== undefined && until <= since)) return [...earlier];
  return [
    ...earlier,
    {
      productId: purchase.productId,
      from: since,
      ...omitUndefined({ until }),
      ...(purchase.isTrialPeriod && { isTrial: true }),
    },
  ];
}

interface CheckedState {
  readonly state: PurchaseState;
  readonly createdAt: EpochMillis;
  readonly checkedAt: EpochMillis;
  readonly activePeriods?: StoredPeriods;
}

/**
 * Computes the stored periods of a new state. Periods of earlier transactions stay as they were observed, including
 * grace periods and revocations. Periods of transactions that are new follow from their dates. Returns undefined if the
 * purchase shows them.
 */
export function computeStoredPeriods(
  before: CheckedState | undefined,
  after: Omit<CheckedState, 'activePeriods'>,
): StoredPeriods | undefined {
  const { purchase } = after.state;
  if (!isSubscription(purchase)) return undefined;
  const joined = joinPeriods(listPeriodsByTransaction(before, after));
  const latest = isUnpaid(purchase) ? undefined : joined.pop();
  // Payments ahead of their periods do not extend a subscription that has ended.
  const end = { from: -Infinity, until: Math.min(getAccessEnd(purchase), after.checkedAt) };
  const periods = isActive(purchase, after.checkedAt) ? joined : clip(joined, end);
  const start = purchase.purchaseDate ?? after.createdAt;
  const since = latest?.from ?? start;
  const until = latest?.until;
  const isEndedEarly = until !== undefined && until < getAccessEnd(purchase);
  if (periods.length === 0 && since === start && !isEndedEarly) return undefined;
  return { earlier: periods, since, ...(isEndedEarly && { until }) };
}

/** Lists the periods of the transactions in order, at the end the transaction that the purchase describes. */
function listPeriodsByTransaction(
  before: CheckedState | undefined,
  after: Omit<CheckedState, 'activePeriods'>,
): ActivePeriod[] {
  const {
    state: { purchase, transactions },
    checkedAt,
  } = after;
  const payments = transactions
    .map(({ transaction }) => transaction)
    .filter(({ isPending }) => !isPending)
    .sort((a, b) => a.purchaseDate - b.purchaseDate || (a.transactionId < b.transactionId ? -1 : 1));
  const observed = before ? listObservedPeriods(before) : [];
  const knownPayments = new Set((before?.state.transactions ?? []).map(({ transaction }) => toPaymentKey(transaction)));
  const latestIndex = findLatestIndex(payments, purchase);
  const periods = listPeriodsBeforePayments(after, { payments, observed });
  for (const [index, payment] of payments.entries()) {
    const isLatest = index === latestIndex;
    const next = payments[index + 1];
    if (isLatest && !next) continue;
    const until = next?.purchaseDate ?? checkedAt;
    // Payments after the latest one were refunded or replaced: their periods have ended.
    const window = { from: payment.purchaseDate, until: index > latestIndex ? Math.min(until, checkedAt) : until };
    periods.push(...clip(knownPayments.has(toPaymentKey(payment)) ? observed : [toPaidPeriod(payment)], window));
  }
  const paidAt = payments[latestIndex]?.purchaseDate ?? purchase.purchaseDate ?? after.createdAt;
  const hasResumed = latestIndex < payments.length - 1;
  const from = hasResumed ? Math.max(paidAt, periods.at(-1)?.until ?? paidAt) : paidAt;
  return [...periods, ...listLatestPeriods({ before, after }, { from, observed })];
}

/** Lists the periods before the first transaction: some stores report neither early transactions nor trials. */
function listPeriodsBeforePayments(
  { state: { purchase } }: Pick<CheckedState, 'state'>,
  { payments, observed }: { readonly payments: readonly Transaction[]; readonly observed: readonly ActivePeriod[] },
): ActivePeriod[] {
  const [first] = payments;
  if (!first || purchase.purchaseDate === undefined || purchase.purchaseDate >= first.purchaseDate) return [];
  const window = { from: purchase.purchaseDate, until: first.purchaseDate };
  const observedPeriods = clip(observed, window);
  return observedPeriods.length > 0 ? observedPeriods : [{ productId: first.productId, ...window }];
}

/** Lists the periods that were observed. A period without an end lasts until the end of access. */
const listObservedPeriods = (before: CheckedState): ActivePeriod[] =>
  listActivePeriods({ ...before, purchase: before.state.purchase }).map((period) => ({
    until: getAccessEnd(before.state.purchase),
    ...period,
  }));

/** Identifies the parts of a transaction that determine its period. */
const toPaymentKey = ({ transactionId, productId, purchaseDate, expirationDate, refundedAt }: Transaction): string =>
  toCanonicalJson([transactionId, productId, purchaseDate, expirationDate ?? null, refundedAt ?? null]);

function findLatestIndex(payments: readonly Transaction[], { transactionId }: Purchase): number {
  const index = payments.findIndex((payment) => payment.transactionId === transactionId);
  return index === -1 ? payments.length - 1 : index;
}

/** Returns the period that a transaction paid for, until it was refunded. Another payment follows. */
const toPaidPeriod = (payment: Transaction): ActivePeriod => ({
  productId: payment.productId,
  from: payment.purchaseDate,
  until: Math.min(payment.refundedAt ?? Infinity, (payment.expirationDate ?? Infinity) + getRenewalDelayMs(payment)),
  ...(payment.isTrialPeriod && { isTrial: true }),
});

interface StateChange {
  readonly before: CheckedState | undefined;
  readonly after: Omit<CheckedState, 'activePeriods'>;
}

/** Lists the periods of the latest transaction: the current one, and those before a pause within the paid time. */
function listLatestPeriods(
  { before, after: { state, checkedAt } }: StateChange,
  { from, observed }: { readonly from: EpochMillis; readonly observed: readonly ActivePeriod[] },
): ActivePeriod[] {
  const { purchase } = state;
  if (isUnpaid(purchase)) return [];
  const isSamePayment = before?.state.purchase.transactionId === purchase.transactionId;
  const earlier = isSamePayment ? clip(observed, { from, until: getAccessEnd(purchase) }) : [];
  const hasPauseEnded = before?.state.purchase.isPaused === true && isActive(purchase, checkedAt);
  const continued = hasPauseEnded ? undefined : earlier.pop();
  const period = {
    productId: purchase.productId,
    from: continued?.from ?? (earlier.length > 0 ? checkedAt : from),
    ...(purchase.isTrialPeriod && { isTrial: true }),
  };
  if (isActive(purchase, checkedAt)) return [...earlier, period];
  // Paused or consumed subscriptions have a later end of access: they ended when this was first observed.
  const until = Math.min(getAccessEnd(purchase), continued?.until ?? checkedAt, checkedAt);
  return [...earlier, { ...period, until: Math.max(until, period.from) }];
}

const clip = (periods: readonly ActivePeriod[], window: { readonly from: EpochMillis; readonly until: EpochMillis }) =>
  periods.flatMap((period): ActivePeriod[] => {
    const from = Math.max(period.from, window.from);
    const until = Math.min(period.until ?? window.until, window.until);
    return from < until ? [{ ...period, from, until }] : [];
  });

/** Joins periods of the same product that follow each other, and removes short gaps and empty periods. */
function joinPeriods(periods: readonly ActivePeriod[]): ActivePeriod[] {
  const joined: ActivePeriod[] = [];
  for (const [index, period] of periods.entries()) {
    const isEmpty = period.until !== undefined && period.until <= period.from;
    if (isEmpty && index < periods.length - 1) continue;
    const previous = joined.at(-1);
    const continues = previous?.until !== undefined && period.from - previous.until <= maxGapMs && !isEmpty;
    if (!previous || !continues) {
      joined.push(period);
      continue;
    }
    joined.pop();
    if (previous.productId === period.productId && previous.isTrial === period.isTrial) {
      joined.push({ ...period, from: previous.from });
    } else {
      joined.push({ ...previous, until: period.from }, period);
    }
  }
  return joined;
}

/** A free trial of a subscription: its trial periods without a paid period between them. A pause interrupts a trial. */
export interface Trial {
  /** The product of its first period. */
  readonly productId: string;
  readonly startedAt: EpochMillis;
  /** Start of the first paid period after it. */
  readonly convertedAt?: EpochMillis;
  /** End of the trial if no paid period followed. */
  readonly endedAt?: EpochMillis;
}

/**
 * A paid period within this time after the trial converts it, and a trial period continues it. Apple retries the
 * payment for up to 60 days. A trial later than that is a new one, for example an offer that wins a customer back.
 * @see https://developer.apple.com/documentation/storekit/in-app_purchase/reducing_involuntary_subscriber_churn
 */
const maxInterruptionMs = 60 * dayMs;

/** Lists the free trials among active periods. A trial that was neither converted nor ended is still running. */
export function listTrials(periods: readonly ActivePeriod[]): Trial[] {
  return periods.flatMap((period, index): Trial[] => {
    if (!period.isTrial || isSameTrial(periods[index - 1], period)) return [];
    let last = index;
    while (isSameTrial(periods[last], periods[last + 1])) last++;
    const { until } = periods[last] ?? period;
    const next = periods[last + 1];
    const isConverted =
      until !== undefined && next !== undefined && !next.isTrial && next.from - until <= maxInterruptionMs;
    return [
      {
        productId: period.productId,
        startedAt: period.from,
        ...omitUndefined(isConverted ? { convertedAt: next.from } : { endedAt: until }),
      },
    ];
  });
}

const isSameTrial = (earlier: ActivePeriod | undefined, later: ActivePeriod | undefined): boolean =>
  earlier?.isTrial === true &&
  later?.isTrial === true &&
  later.from - (earlier.until ?? later.from) <= maxInterruptionMs;
