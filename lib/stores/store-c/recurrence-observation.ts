import type { CancelationReason } from '../../api/enumerations.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { type MappingContext, toReportedAmount, toUtcDay } from './mapping-context.ts';
import { estimatePeriodStart } from './period-start.ts';
import type { RecurrenceItem } from './recurrences.ts';
import { parseTimestamp } from './timestamps.ts';

/** The states in which a subscription has ended, and why. An ended one whose auto-renewal was off is the customer's wish. */
const reasonsByState: ReadonlyMap<string, CancelationReason> = new Map([
  ['Inactive', 'Customer'],
  // Terminated by the store or the developer, with the money paid back or not: the store does not tell.
  ['Canceled', 'Unknown'],
  ['Revoked', 'Customer'],
  ['Failed', 'System.BillingError'],
]);

/** What a subscription's item says. Its state follows its dates by hours, so that the dates decide. */
export function toRecurrenceObservation(item: RecurrenceItem, context: MappingContext): Observation {
  const dates = parseDates(item, context);
  const purchase = toPurchase(item, dates, context);
  const transaction = toTransaction(item, purchase, { dates, looking: context });
  const { expirationTime } = dates;
  return {
    asOf: context.asOf,
    purchase,
    transactions: transaction ? [transaction] : [],
    userAliases: [...new Set([context.userId, item.beneficiary?.replace(/^pub:/, '')].flatMap((token) => token || []))],
    refreshToken: {
      ...context.refreshToken,
      productId: item.productId,
      ...(expirationTime !== undefined && { expirationTime: new Date(expirationTime).toISOString() }),
    },
  };
}

interface RecurrenceDates {
  readonly startTime?: EpochMillis;
  readonly expirationTime?: EpochMillis;
  readonly graceUntil?: EpochMillis;
  readonly cancellationDate?: EpochMillis;
  readonly lastModified?: EpochMillis;
  /** The start of the current period, as far as that can be known. */
  readonly currentStart?: EpochMillis;
}

function parseDates(item: RecurrenceItem, { previousExpiration, refreshToken }: MappingContext): RecurrenceDates {
  const startTime = parseTimestamp(item.startTime);
  // A subscription in no state lasts for ever, whatever date is written beside it.
  const isPerpetual = item.recurrenceState === 'None';
  const expirationTime = isPerpetual ? undefined : parseTimestamp(item.expirationTime);
  const isDated = startTime !== undefined && expirationTime !== undefined;
  const { period } = refreshToken;
  return omitUndefined({
    startTime,
    expirationTime,
    graceUntil: isPerpetual ? undefined : parseTimestamp(item.expirationTimeWithGrace),
    cancellationDate: parseTimestamp(item.cancellationDate),
    lastModified: parseTimestamp(item.lastModified),
    // A trial is the first period, however long the paid ones are.
    currentStart:
      isDated && !item.isTrial
        ? estimatePeriodStart({ startTime, expirationTime, period, previousExpiration })
        : startTime,
  });
}

function toPurchase(item: RecurrenceItem, dates: RecurrenceDates, { asOf, sandbox }: MappingContext): Purchase {
  const ending = reasonsByState.get(item.recurrenceState ?? '');
  const { startTime, currentStart, cancellationDate } = dates;
  const productId = withPlatform('store_c', item.productId);
  const isRenewed = currentStart !== undefined && startTime !== undefined && currentStart > startTime;
  return {
    purchaseId: withPlatform('store_c', item.id),
    transactionId: withPlatform('store_c', toTransactionId(item, dates)),
    productId,
    platform: 'store_c',
    productType: 'paid subscription',
    sandbox,
    renewalIntent: item.autoRenew === true && !ending ? 'Renew' : 'Lapse',
    isBillingRetryPeriod: isInGracePeriod(item, dates, asOf),
    ...omitUndefined({
      offerId: item.skuId ? `${productId}#${item.skuId}` : undefined,
      purchaseDate: startTime,
      lastRenewalDate: isRenewed ? currentStart : undefined,
      expirationDate: computeExpiration(item, dates, asOf),
      endedAt: ending && findEndDate(item, dates, asOf),
      renewalIntentChangeDate: cancellationDate,
      cancelationReason: ending,
      isTrialPeriod: item.isTrial ?? undefined,
    }),
  };
}

/** The end of access, with the grace period while that lasts. */
function computeExpiration(item: RecurrenceItem, dates: RecurrenceDates, asOf: EpochMillis): EpochMillis | undefined {
  const { expirationTime, graceUntil } = dates;
  if (expirationTime === undefined || graceUntil === undefined) return expirationTime;
  return isInGracePeriod(item, dates, asOf) ? Math.max(expirationTime, graceUntil) : expirationTime;
}

/** Whether the payment of a period that is over is retried, or has to be although the state does not say so yet. */
function isInGracePeriod(
  { recurrenceState, autoRenew }: RecurrenceItem,
  { expirationTime, graceUntil }: RecurrenceDates,
  asOf: EpochMillis,
): boolean {
  if (recurrenceState === 'InDunning') return true;
  if (recurrenceState !== 'Active' || autoRenew !== true) return false;
  return expirationTime !== undefined && graceUntil !== undefined && expirationTime <= asOf && asOf < graceUntil;
}

/** When a state of the end took effect before the date of expiration; undefined when that date tells it already. */
function findEndDate(
  { recurrenceState }: RecurrenceItem,
  dates: RecurrenceDates,
  asOf: EpochMillis,
): EpochMillis | undefined {
  const { expirationTime, cancellationDate, lastModified } = dates;
  const isRevoked = recurrenceState === 'Canceled' || recurrenceState === 'Revoked';
  if (!isRevoked && expirationTime !== undefined && expirationTime <= asOf) return undefined;
  const candidates = isRevoked ? [cancellationDate, lastModified] : [lastModified];
  return candidates.find((at) => at !== undefined && at <= asOf) ?? asOf;
}

/**
 * The store names no payments, so that the first has the id of the subscription and each later one the date as well to
 * which it paid.
 */
function toTransactionId({ id }: RecurrenceItem, { startTime, currentStart, expirationTime }: RecurrenceDates): string {
  const isFirst = startTime !== undefined && currentStart === startTime;
  return expirationTime === undefined || isFirst ? id : `${id}:${toUtcDay(expirationTime)}`;
}

function toTransaction(
  item: RecurrenceItem,
  purchase: Purchase,
  { dates, looking: context }: { dates: RecurrenceDates; looking: MappingContext },
): Transaction | undefined {
  const { startTime, currentStart = startTime, expirationTime } = dates;
  if (currentStart === undefined) return undefined;
  const { purchaseId, transactionId: id, productId, offerId, sandbox, platform, isTrialPeriod } = purchase;
  const refundedAt = item.recurrenceState === 'Revoked' ? purchase.endedAt : undefined;
  return {
    transactionId: id,
    purchaseId,
    productId,
    platform,
    sandbox,
    purchaseDate: currentStart,
    ...omitUndefined({ offerId, expirationDate: expirationTime, isTrialPeriod, refundedAt }),
    ...toReportedAmount(context, isTrialPeriod),
  };
}
