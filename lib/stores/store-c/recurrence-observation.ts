import { defined } from '../../defined.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { CancelationReason, Millis, Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import { dayOf, type Looking, reportedIn } from './looking.ts';
import { momentOf } from './moments.ts';
import { periodStart } from './period.ts';
import type { RecurrenceItem } from './recurrences.ts';

/** The states in which a subscription has ended, and why. An ended one whose auto-renewal was off is the customer's wish. */
const endings: ReadonlyMap<string, CancelationReason> = new Map([
  ['Inactive', 'Customer'],
  // Terminated by the store or the developer, with the money paid back or not: the store does not tell.
  ['Canceled', 'Unknown'],
  ['Revoked', 'Customer'],
  ['Failed', 'System.BillingError'],
]);

/** What a subscription's item says. Its state follows its dates by hours, so that the dates decide. */
export function recurrenceObservation(item: RecurrenceItem, looking: Looking): Observation {
  const dates = datesOf(item, looking);
  const purchase = purchaseOf(item, dates, looking);
  const transaction = transactionOf(item, purchase, { dates, looking });
  const { expirationTime } = dates;
  return {
    asOf: looking.asOf,
    purchase,
    transactions: transaction ? [transaction] : [],
    userTokens: [...new Set([looking.userId, item.beneficiary?.replace(/^pub:/, '')].flatMap((token) => token || []))],
    refreshToken: {
      ...looking.refreshToken,
      productId: item.productId,
      ...(expirationTime !== undefined && { expirationTime: new Date(expirationTime).toISOString() }),
    },
  };
}

interface Dates {
  readonly startTime?: Millis;
  readonly expirationTime?: Millis;
  readonly graceUntil?: Millis;
  readonly cancellationDate?: Millis;
  readonly lastModified?: Millis;
  /** The start of the current period, as far as that can be known. */
  readonly currentStart?: Millis;
}

function datesOf(item: RecurrenceItem, { previousExpiration, refreshToken }: Looking): Dates {
  const startTime = momentOf(item.startTime);
  // A subscription in no state lasts for ever, whatever date is written beside it.
  const isPerpetual = item.recurrenceState === 'None';
  const expirationTime = isPerpetual ? undefined : momentOf(item.expirationTime);
  const isDated = startTime !== undefined && expirationTime !== undefined;
  const { period } = refreshToken;
  return defined({
    startTime,
    expirationTime,
    graceUntil: isPerpetual ? undefined : momentOf(item.expirationTimeWithGrace),
    cancellationDate: momentOf(item.cancellationDate),
    lastModified: momentOf(item.lastModified),
    // A trial is the first period, however long the paid ones are.
    currentStart:
      isDated && !item.isTrial ? periodStart({ startTime, expirationTime, period, previousExpiration }) : startTime,
  });
}

function purchaseOf(item: RecurrenceItem, dates: Dates, { asOf, sandbox }: Looking): Purchase {
  const ending = endings.get(item.recurrenceState ?? '');
  const { startTime, currentStart, cancellationDate } = dates;
  const productId = prefixed('store_c', item.productId);
  const isRenewed = currentStart !== undefined && startTime !== undefined && currentStart > startTime;
  return {
    purchaseId: prefixed('store_c', item.id),
    transactionId: prefixed('store_c', transactionId(item, dates)),
    productId,
    platform: 'store_c',
    productType: 'paid subscription',
    sandbox,
    renewalIntent: item.autoRenew === true && !ending ? 'Renew' : 'Lapse',
    isBillingRetryPeriod: isInGrace(item, dates, asOf),
    ...defined({
      offerId: item.skuId ? `${productId}#${item.skuId}` : undefined,
      purchaseDate: startTime,
      lastRenewalDate: isRenewed ? currentStart : undefined,
      expirationDate: expirationOf(item, dates, asOf),
      endedAt: ending && endOf(item, dates, asOf),
      renewalIntentChangeDate: cancellationDate,
      cancelationReason: ending,
      isTrialPeriod: item.isTrial ?? undefined,
    }),
  };
}

/** The end of access, with the grace period while that lasts. */
function expirationOf(item: RecurrenceItem, dates: Dates, asOf: Millis): Millis | undefined {
  const { expirationTime, graceUntil } = dates;
  if (expirationTime === undefined || graceUntil === undefined) return expirationTime;
  return isInGrace(item, dates, asOf) ? Math.max(expirationTime, graceUntil) : expirationTime;
}

/** Whether the payment of a period that is over is retried, or has to be although the state does not say so yet. */
function isInGrace(
  { recurrenceState, autoRenew }: RecurrenceItem,
  { expirationTime, graceUntil }: Dates,
  asOf: Millis,
): boolean {
  if (recurrenceState === 'InDunning') return true;
  if (recurrenceState !== 'Active' || autoRenew !== true) return false;
  return expirationTime !== undefined && graceUntil !== undefined && expirationTime <= asOf && asOf < graceUntil;
}

/** When a state of the end took effect before the date of expiration; undefined when that date tells it already. */
function endOf({ recurrenceState }: RecurrenceItem, dates: Dates, asOf: Millis): Millis | undefined {
  const { expirationTime, cancellationDate, lastModified } = dates;
  const isTakenBack = recurrenceState === 'Canceled' || recurrenceState === 'Revoked';
  if (!isTakenBack && expirationTime !== undefined && expirationTime <= asOf) return undefined;
  const candidates = isTakenBack ? [cancellationDate, lastModified] : [lastModified];
  return candidates.find((at) => at !== undefined && at <= asOf) ?? asOf;
}

/**
 * The store names no payments, so that the first has the id of the subscription and each later one the date as well to
 * which it paid.
 */
function transactionId({ id }: RecurrenceItem, { startTime, currentStart, expirationTime }: Dates): string {
  const isFirst = startTime !== undefined && currentStart === startTime;
  return expirationTime === undefined || isFirst ? id : `${id}:${dayOf(expirationTime)}`;
}

function transactionOf(
  item: RecurrenceItem,
  purchase: Purchase,
  { dates, looking }: { dates: Dates; looking: Looking },
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
    ...defined({ offerId, expirationDate: expirationTime, isTrialPeriod, refundedAt }),
    ...reportedIn(looking, isTrialPeriod),
  };
}
