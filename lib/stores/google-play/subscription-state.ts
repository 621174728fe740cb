import type { CancelationReason, PriceConsentStatus } from '../../api/schemas.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { lateRenewalMs } from '../late-renewal.ts';
import { unavailableError } from './api-errors.ts';
import type { LineItem, Subscription } from './payloads.ts';

/** @see https://developer.android.com/google/play/billing/lifecycle/subscriptions */
type StateName =
  | 'ACTIVE'
  | 'PENDING'
  | 'PAUSED'
  | 'IN_GRACE_PERIOD'
  | 'ON_HOLD'
  | 'CANCELED'
  | 'EXPIRED'
  | 'PENDING_PURCHASE_CANCELED';

const isInState = ({ subscriptionState }: Subscription, ...names: readonly StateName[]): boolean =>
  names.some((name) => subscriptionState === `SUBSCRIPTION_STATE_${name}`);

/** The first payment is pending or was canceled. The subscription that it was to replace then continues. */
export const isFirstPaymentMissing = (subscription: Subscription): boolean =>
  isInState(subscription, 'PENDING', 'PENDING_PURCHASE_CANCELED');

export const hasOutstandingPayment = (subscription: Subscription): boolean =>
  isInState(subscription, 'IN_GRACE_PERIOD', 'ON_HOLD', 'PENDING', 'PENDING_PURCHASE_CANCELED');

/** The paid period has not ended, so that an item has the phase of its latest payment. */
export const isPeriodRunning = (subscription: Subscription): boolean =>
  !hasOutstandingPayment(subscription) && !hasNoAccess(subscription);

const hasNoAccess = (subscription: Subscription): boolean =>
  isInState(subscription, 'EXPIRED', 'ON_HOLD', 'PAUSED', 'PENDING', 'PENDING_PURCHASE_CANCELED');

/**
 * The item has ended while the subscription continues: its payment was declined, or it was removed, replaced or
 * revoked. The only running item can be past its time while Google Play renews it.
 * @see https://developer.android.com/google/play/billing/subscription-with-addons#item-expiration
 */
const hasEndedApart = ({ lineItems }: Subscription, { productId, expiryTime }: LineItem, now: EpochMillis): boolean =>
  expiryTime !== undefined &&
  expiryTime <= now &&
  lineItems.some((other) => other.productId !== productId && (other.expiryTime ?? 0) > now);

/**
 * Whether an earlier query has seen the end of the item, while others continued. What happens to the others, such as a
 * failed payment or a cancelation, does not change it.
 */
const hadEndedApart = (
  { lineItems }: Subscription,
  { expiryTime }: LineItem,
  { now, known }: Pick<StateContext, 'now' | 'known'>,
): boolean =>
  lineItems.length > 1 &&
  known?.cancelationReason !== undefined &&
  !known.isBillingRetryPeriod &&
  !known.isPaused &&
  expiryTime !== undefined &&
  expiryTime <= now &&
  known.expirationDate === expiryTime;

/**
 * Google Play waits a day before it reports a declined payment, even with a grace period of 0 days. Until then, the
 * subscription stays active past its time, and no notification arrives.
 * @see https://developer.android.com/google/play/billing/lifecycle/subscriptions#silent-grace-period
 */
export const silentGraceMs = dayMs;

/** Returns the end of access of an item that has not ended. */
function findAccessEnd(subscription: Subscription, item: LineItem, now: EpochMillis): EpochMillis | undefined {
  const { expiryTime } = item;
  const isRenewing = toRenewalIntent(subscription, item) === 'Renew' || isCancelationPending(item);
  return expiryTime !== undefined && expiryTime <= now && isInState(subscription, 'ACTIVE') && isRenewing
    ? Math.max(expiryTime + silentGraceMs, now + lateRenewalMs)
    : expiryTime;
}

interface StateContext {
  readonly now: EpochMillis;
  /** The purchase as it was stored before. */
  readonly known: Purchase | undefined;
  /** A query has seen that Google Play retries a declined payment without reporting it. */
  readonly wasRetried: boolean;
  /** The latest payment of the item was refunded. */
  readonly isRefunded: boolean;
}

/** Converts the state of one line item. Throws `ConnectionFailed` if an active item lacks its expiration. */
export function toSubscriptionState(
  subscription: Subscription,
  item: LineItem,
  context: StateContext,
): Partial<Purchase> {
  const { now, known } = context;
  const { pausedStateContext, canceledStateContext, acknowledgementState } = subscription;
  const isPending = isInState(subscription, 'PENDING');
  const hadEnded = hadEndedApart(subscription, item, context);
  const isPaused = isInState(subscription, 'PAUSED') && !hadEnded;
  const isEndedApart = hadEnded || hasEndedApart(subscription, item, now);
  const isEnded = hasNoAccess(subscription) || isEndedApart;
  const { expiryTime } = item;
  // Otherwise the purchase would never expire.
  if (expiryTime === undefined && !isEnded) throw unavailableError('a line item has no expiryTime');
  return omitUndefined({
    // Clients compare this date with their clock, so it must be past if the customer lost access.
    expirationDate:
      isEnded && !isPending
        ? Math.min(expiryTime ?? subscription.startTime ?? now, now)
        : findAccessEnd(subscription, item, now),
    renewalIntent: isEndedApart ? 'Lapse' : toRenewalIntent(subscription, item),
    isCommitted: (!isEnded && isCancelationPending(item)) || undefined,
    renewalIntentChangeDate: canceledStateContext?.userInitiatedCancellation?.cancelTime,
    cancelationReason: isEndedApart
      ? toItemReason(subscription, item, context)
      : isEnded && !isPending
        ? toCancelationReason(subscription, item, context)
        : undefined,
    isPending: isPending || undefined,
    isAbandoned: isInState(subscription, 'PENDING_PURCHASE_CANCELED') || undefined,
    isAcknowledged: acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
    // The grace period extends the items whose payment failed.
    isBillingRetryPeriod:
      (isInState(subscription, 'ON_HOLD') && !hadEnded) ||
      (isInState(subscription, 'IN_GRACE_PERIOD') && !isEndedApart),
    isTrialPeriod: item.offerPhase?.freeTrial !== undefined || undefined,
    isIntroPeriod: item.offerPhase?.introductoryPrice !== undefined || undefined,
    // A deferred change that has taken place is still the announced one.
    renewalProductId: isEndedApart ? known?.renewalProductId : isEnded ? undefined : toRenewalProductId(item),
    priceConsentStatus: toPriceConsentStatus(item),
    discountId: item.offerDetails?.offerId ?? item.signupPromotion?.vanityCode?.promotionCode,
    isPaused: isPaused || undefined,
    autoResumeDate: isPaused ? pausedStateContext?.autoResumeTime : undefined,
  });
}

function toRenewalIntent(
  subscription: Subscription,
  { autoRenewingPlan, deferredItemRemoval, deferredItemReplacement }: LineItem,
): Purchase['renewalIntent'] {
  if (isInState(subscription, 'EXPIRED', 'CANCELED') || deferredItemRemoval) return 'Lapse';
  // The replaced item does not renew, but the subscription continues with another product.
  if (deferredItemReplacement?.productId) return 'Renew';
  return autoRenewingPlan?.autoRenewEnabled && !isCancelationPending({ autoRenewingPlan }) ? 'Renew' : 'Lapse';
}

/**
 * The customer has canceled an installment plan that Google Play charges until its commitment ends.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#InstallmentPlan
 */
const isCancelationPending = ({ autoRenewingPlan }: Pick<LineItem, 'autoRenewingPlan'>): boolean =>
  Boolean(autoRenewingPlan?.installmentDetails?.pendingCancellation);

const surveyReasons: Readonly<Record<string, CancelationReason>> = {
  CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE: 'Customer.NotUsefulEnough',
  CANCEL_SURVEY_REASON_TECHNICAL_ISSUES: 'Customer.TechnicalIssues',
  CANCEL_SURVEY_REASON_COST_RELATED: 'Customer.Cost',
  CANCEL_SURVEY_REASON_FOUND_BETTER_APP: 'Customer.FoundBetterApp',
  CANCEL_SURVEY_REASON_OTHERS: 'Customer.OtherReason',
};

function toCancelationReason(
  subscription: Subscription,
  item: LineItem,
  stateContext: StateContext,
): CancelationReason {
  const { canceledStateContext: context } = subscription;
  if (isInState(subscription, 'PAUSED')) return 'PAUSED';
  if (isInState(subscription, 'ON_HOLD')) return 'System.BillingError';
  if (context?.replacementCancellation) return 'System.Replaced';
  if (context?.developerInitiatedCancellation) return 'Developer';
  if (isConsentMissing(item) && !isPaymentFailed(stateContext)) return 'Customer.PriceIncrease';
  if (context?.userInitiatedCancellation) {
    return surveyReasons[context.userInitiatedCancellation.cancelSurveyResult?.reason ?? ''] ?? 'Customer';
  }
  if (isPaymentFailed(stateContext)) return 'System.BillingError';
  return context?.systemInitiatedCancellation ? 'System' : 'Unknown';
}

/**
 * The customer has not consented to the price of the renewal. Only an opt-in price increase and a step-up of the price
 * require it. A subscription that ends before the renewal or the deadline has another reason.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#SubscriptionItemPriceChangeDetails
 * @see https://googleapis.dev/dotnet/Google.Apis.AndroidPublisher.v3/latest/api/Google.Apis.AndroidPublisher.v3.Data.PriceStepUpConsentDetails.html
 */
function isConsentMissing({ expiryTime = Infinity, autoRenewingPlan }: LineItem): boolean {
  const { priceChangeDetails, priceStepUpConsentDetails } = autoRenewingPlan ?? {};
  const { priceChangeMode, priceChangeState, expectedNewPriceChargeTime = expiryTime } = priceChangeDetails ?? {};
  const { state, consentDeadlineTime = expiryTime } = priceStepUpConsentDetails ?? {};
  const isOutstanding = priceChangeMode === 'PRICE_INCREASE' && priceChangeState === 'OUTSTANDING';
  // A renewal is charged up to a day before the period ends.
  return (
    (isOutstanding && expectedNewPriceChargeTime <= expiryTime + dayMs) ||
    (state === 'PENDING' && consentDeadlineTime <= expiryTime)
  );
}

/** Returns the reason for which an item ended while the subscription continues. */
function toItemReason(subscription: Subscription, item: LineItem, context: StateContext): CancelationReason {
  const { lineItems } = subscription;
  const { productId, deferredItemRemoval } = item;
  const { known } = context;
  if (known?.cancelationReason && hadEndedApart(subscription, item, context)) return known.cancelationReason;
  const isReplaced = lineItems.some((other) => other.itemReplacement?.productId === productId);
  if (isReplaced || known?.renewalProductId !== undefined) return 'System.Replaced';
  if (isPaymentFailed(context)) return 'System.BillingError';
  return deferredItemRemoval || known?.renewalIntent === 'Lapse' ? 'Customer' : 'Unknown';
}

/**
 * Google Play removes the contexts of a grace period and an account hold when the subscription ends after them. A
 * revocation during that time refunds the latest payment.
 */
const isPaymentFailed = ({ known, wasRetried, isRefunded }: StateContext): boolean =>
  !isRefunded &&
  (wasRetried || known?.isBillingRetryPeriod === true || known?.cancelationReason === 'System.BillingError');

/** Returns the product that replaces this one at the next renewal; undefined if the product stays the same. */
function toRenewalProductId({ productId, deferredItemReplacement }: LineItem): string | undefined {
  const nextProductId = deferredItemReplacement?.productId;
  return nextProductId === undefined || nextProductId === productId
    ? undefined
    : withPlatform(platformTokens.googlePlay, nextProductId);
}

function toPriceConsentStatus({ autoRenewingPlan }: LineItem): PriceConsentStatus | undefined {
  const { priceChangeDetails, priceStepUpConsentDetails } = autoRenewingPlan ?? {};
  const { priceChangeMode, priceChangeState } = priceChangeDetails ?? {};
  const consentState = priceStepUpConsentDetails?.state;
  if (consentState === 'PENDING') return 'Notified';
  if (consentState === 'CONFIRMED' || consentState === 'COMPLETED') return 'Agreed';
  if (priceChangeMode === 'PRICE_DECREASE') return undefined;
  if (priceChangeState === 'OUTSTANDING') return 'Notified';
  if (priceChangeState === 'APPLIED') return 'Agreed';
  if (priceChangeState === 'CONFIRMED') return priceChangeMode === 'OPT_OUT_PRICE_INCREASE' ? 'Notified' : 'Agreed';
  return undefined;
}
