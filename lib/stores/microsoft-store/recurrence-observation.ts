import type { CancelationReason } from '../../api/schemas.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import { type MappingContext, toReportedAmount } from './mapping-context.ts';
import { parseTimestamp, type RecurrenceItem } from './payloads.ts';
import { estimatePeriodStart } from './period-start.ts';

/**
 * Reasons by the state of an ended subscription.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user
 */
const reasonsByState: ReadonlyMap<string, CancelationReason> = new Map([
  // The customer had disabled auto-renewal.
  ['Inactive', 'Customer'],
  // Terminated by the store or the developer, with or without a refund: the store does not report which.
  ['Canceled', 'Unknown'],
  ['Revoked', 'Unknown'],
  ['Failed', 'System.BillingError'],
]);

/** Converts a subscription. `recurrenceState` is updated hours late, so the dates take precedence over it. */
export function toRecurrenceObservation(item: RecurrenceItem, context: MappingContext): Observation {
  const dates = parseDates(item, context);
  const purchase = toPurchase(item, dates, context);
  const { expirationTime } = dates;
  return {
    asOf: context.asOf,
    purchase,
    transactions: toTransactions(dates, { ...context, purchase, market: item.market || undefined }),
    userAliases: listUserAliases(item, context),
    refreshToken: {
      ...context.refreshToken,
      productId: item.productId,
      ...(expirationTime !== undefined && { expirationTime: new Date(expirationTime).toISOString() }),
    },
  };
}

const listUserAliases = ({ beneficiary }: RecurrenceItem, { userId }: MappingContext): string[] => [
  ...new Set([userId, beneficiary?.replace(/^pub:/, '')].flatMap((alias) => alias || [])),
];

interface RecurrenceDates {
  readonly startTime?: EpochMillis;
  readonly expirationTime?: EpochMillis;
  readonly graceUntil?: EpochMillis;
  readonly cancellationDate?: EpochMillis;
  readonly lastModified?: EpochMillis;
  /** Start of the current period, if it can be determined. */
  readonly currentStart?: EpochMillis;
}

function parseDates(item: RecurrenceItem, { previousExpiration, refreshToken }: MappingContext): RecurrenceDates {
  const startTime = parseTimestamp(item.startTime);
  // A subscription in state `None` is perpetual. Its expirationTime is meaningless.
  const isPerpetual = item.recurrenceState === 'None';
  const expirationTime = isPerpetual ? undefined : parseTimestamp(item.expirationTime);
  const hasDates = startTime !== undefined && expirationTime !== undefined;
  const { period } = refreshToken;
  return omitUndefined({
    startTime,
    expirationTime,
    graceUntil: isPerpetual ? undefined : parseTimestamp(item.expirationTimeWithGrace),
    cancellationDate: parseTimestamp(item.cancellationDate),
    lastModified: parseTimestamp(item.lastModified),
    // A trial is the first period, independent of the billing period.
    currentStart:
      hasDates && !item.isTrial
        ? estimatePeriodStart({ startTime, expirationTime, period, previousExpiration })
        : startTime,
  });
}

function toPurchase(item: RecurrenceItem, dates: RecurrenceDates, { asOf, sandbox }: MappingContext): Purchase {
  const endReason = reasonsByState.get(item.recurrenceState ?? '');
  const { startTime, currentStart, cancellationDate } = dates;
  const productId = withPlatform(platformTokens.microsoftStore, item.productId);
  const isRenewing = item.autoRenew === true && !endReason;
  const isRenewed = currentStart !== undefined && startTime !== undefined && currentStart > startTime;
  return {
    purchaseId: withPlatform(platformTokens.microsoftStore, item.id),
    transactionId: withPlatform(platformTokens.microsoftStore, toTransactionId(item, dates)),
    productId,
    platform: platformTokens.microsoftStore,
    productType: 'paid subscription',
    sandbox,
    renewalIntent: isRenewing ? 'Renew' : 'Lapse',
    isBillingRetryPeriod: isInGracePeriod(item, dates, asOf),
    ...omitUndefined({
      offerId: item.skuId ? `${productId}#${item.skuId}` : undefined,
      purchaseDate: startTime,
      lastRenewalDate: isRenewed ? currentStart : undefined,
      expirationDate: computeExpiration(item, dates, asOf),
      endedAt: endReason && findEndDate(item, dates, asOf),
      renewalIntentChangeDate: isRenewing ? undefined : cancellationDate,
      cancelationReason: endReason,
      isTrialPeriod: item.isTrial ?? undefined,
    }),
  };
}

/** Computes the end of access, which during a grace period is the end of that. */
function computeExpiration(item: RecurrenceItem, dates: RecurrenceDates, asOf: EpochMillis): EpochMillis | undefined {
  const { expirationTime, graceUntil } = dates;
  if (expirationTime === undefined || graceUntil === undefined) return expirationTime;
  return isInGracePeriod(item, dates, asOf) ? Math.max(expirationTime, graceUntil) : expirationTime;
}

/** Includes a renewing subscription past its expiration with a stale state, whose payment the store retries. */
function isInGracePeriod(
  { recurrenceState, autoRenew }: RecurrenceItem,
  { expirationTime, graceUntil }: RecurrenceDates,
  asOf: EpochMillis,
): boolean {
  if (recurrenceState === 'InDunning') return true;
  if (recurrenceState !== 'Active' || autoRenew !== true) return false;
  return expirationTime !== undefined && graceUntil !== undefined && expirationTime <= asOf && asOf < graceUntil;
}

/** Finds the time at which an ended subscription ended early; undefined if it ended at its expiration. */
function findEndDate(
  { recurrenceState }: RecurrenceItem,
  dates: RecurrenceDates,
  asOf: EpochMillis,
): EpochMillis | undefined {
  const { expirationTime, cancellationDate, lastModified } = dates;
  const isRevoked = recurrenceState === 'Canceled' || recurrenceState === 'Revoked';
  if (!isRevoked && expirationTime !== undefined && expirationTime <= asOf) return undefined;
  const candidates = isRevoked ? [cancellationDate, lastModified] : [lastModified];
  return candidates.find((date) => date !== undefined && date <= asOf) ?? asOf;
}

/**
 * Derives a transaction id, because the store does not identify payments of a subscription. The first payment has the
 * subscription's id. Later ones append the end of the paid period: `<id>:2027-03-31`.
 */
function toTransactionId({ id }: RecurrenceItem, { startTime, currentStart, expirationTime }: RecurrenceDates): string {
  const isFirst = startTime !== undefined && currentStart === startTime;
  return expirationTime === undefined || isFirst ? id : `${id}:${new Date(expirationTime).toISOString().slice(0, 10)}`;
}

function toTransactions(
  { startTime, currentStart = startTime, expirationTime }: RecurrenceDates,
  context: MappingContext & { readonly purchase: Purchase; readonly market: string | undefined },
): Transaction[] {
  if (currentStart === undefined) return [];
  const { purchase, market } = context;
  const { offerId, isTrialPeriod } = purchase;
  return [
    {
      ...pickSharedFields(purchase),
      purchaseDate: currentStart,
      ...omitUndefined({ offerId, expirationDate: expirationTime, isTrialPeriod, storefront: market }),
      ...(isTrialPeriod && { offerType: 'trial' }),
      ...toReportedAmount(context, isTrialPeriod),
    },
  ];
}
