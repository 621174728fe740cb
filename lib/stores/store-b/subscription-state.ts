import type { CancelationReason, PriceConsentStatus } from '../../api/enumerations.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { unavailableError } from './api-errors.ts';
import type { LineItem, Subscription } from './payloads.ts';

const toStateName = (name: string): string => `SUBSCRIPTION_STATE_${name}`;
const withoutAccess = ['EXPIRED', 'ON_HOLD', 'PAUSED', 'PENDING', 'PENDING_PURCHASE_CANCELED'].map(toStateName);

/** Whether the first payment is outstanding, or was given up: what it was to replace goes on. */
export const isFirstPaymentMissing = ({ subscriptionState }: Subscription): boolean =>
  ['PENDING', 'PENDING_PURCHASE_CANCELED'].map(toStateName).includes(subscriptionState);

/** Whether the state says that a payment is outstanding: its order number is new, and nothing was paid for it. */
export const hasOutstandingPayment = ({ subscriptionState }: Subscription): boolean =>
  ['IN_GRACE_PERIOD', 'ON_HOLD', 'PENDING', 'PENDING_PURCHASE_CANCELED'].map(toStateName).includes(subscriptionState);

type State = Partial<Purchase>;

/** The state of one line of a subscription. */
export function toSubscriptionState(subscription: Subscription, item: LineItem, now: EpochMillis): State {
  const { subscriptionState: current, pausedStateContext, canceledStateContext, acknowledgementState } = subscription;
  const isPaused = current === toStateName('PAUSED');
  const isEnded = withoutAccess.includes(current);
  const expiry = item.expiryTime;
  // Without it the purchase would never end.
  if (expiry === undefined && !isEnded) throw unavailableError('a line of the subscription has no expiryTime');
  return omitUndefined({
    // What gives no access any more must be past, by every date that a client may compare.
    expirationDate:
      isEnded && current !== toStateName('PENDING') ? Math.min(expiry ?? subscription.startTime ?? now, now) : expiry,
    renewalIntent: toRenewalIntent(current, item),
    renewalIntentChangeDate: canceledStateContext?.userInitiatedCancellation?.cancelTime,
    cancelationReason:
      isEnded && current !== toStateName('PENDING') ? toCancelationReason(subscription, item) : undefined,
    isPending: current === toStateName('PENDING') || undefined,
    isAbandoned: current === toStateName('PENDING_PURCHASE_CANCELED') || undefined,
    isAcknowledged: acknowledgementState === 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
    isBillingRetryPeriod: current === toStateName('IN_GRACE_PERIOD') || current === toStateName('ON_HOLD'),
    isTrialPeriod: item.offerPhase?.freeTrial !== undefined || undefined,
    isIntroPeriod: item.offerPhase?.introductoryPrice !== undefined || undefined,
    renewalProductId: isEnded ? undefined : toRenewalProductId(item),
    priceConsentStatus: toPriceConsentStatus(item),
    discountId: item.offerDetails?.offerId ?? item.signupPromotion?.vanityCode?.promotionCode,
    isPaused: isPaused || undefined,
    autoResumeDate: isPaused ? pausedStateContext?.autoResumeTime : undefined,
  });
}

function toRenewalIntent(current: string, { autoRenewingPlan }: LineItem): Purchase['renewalIntent'] {
  if (current === toStateName('EXPIRED') || current === toStateName('CANCELED')) return 'Lapse';
  const renews = autoRenewingPlan?.autoRenewEnabled && !autoRenewingPlan.installmentDetails?.pendingCancellation;
  return renews ? 'Renew' : 'Lapse';
}

const surveyReasons: Readonly<Record<string, CancelationReason>> = {
  CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE: 'Customer.NotUsefulEnough',
  CANCEL_SURVEY_REASON_TECHNICAL_ISSUES: 'Customer.TechnicalIssues',
  CANCEL_SURVEY_REASON_COST_RELATED: 'Customer.Cost',
  CANCEL_SURVEY_REASON_FOUND_BETTER_APP: 'Customer.FoundBetterApp',
  CANCEL_SURVEY_REASON_OTHERS: 'Customer.OtherReason',
};

function toCancelationReason(
  { subscriptionState, canceledStateContext: context }: Subscription,
  item: LineItem,
): CancelationReason {
  if (subscriptionState === toStateName('PAUSED')) return 'PAUSED';
  if (subscriptionState === toStateName('ON_HOLD')) return 'System.BillingError';
  if (context?.replacementCancellation) return 'System.Replaced';
  if (context?.developerInitiatedCancellation) return 'Developer';
  const { priceChangeMode, priceChangeState } = item.autoRenewingPlan?.priceChangeDetails ?? {};
  // Only this kind needs the consent that is outstanding.
  if (priceChangeMode === 'PRICE_INCREASE' && priceChangeState === 'OUTSTANDING') return 'Customer.PriceIncrease';
  if (context?.userInitiatedCancellation) {
    return surveyReasons[context.userInitiatedCancellation.cancelSurveyResult?.reason ?? ''] ?? 'Customer';
  }
  return context?.systemInitiatedCancellation ? 'System' : 'Unknown';
}

/** The product that takes the place of this one when it renews. */
function toRenewalProductId({ productId, deferredItemReplacement: next }: LineItem): string | undefined {
  return next?.productId === undefined || next.productId === productId
    ? undefined
    : withPlatform('store_b', next.productId);
}

function toPriceConsentStatus({ autoRenewingPlan }: LineItem): PriceConsentStatus | undefined {
  const { priceChangeDetails, priceStepUpConsentDetails: stepUp } = autoRenewingPlan ?? {};
  const { priceChangeMode, priceChangeState } = priceChangeDetails ?? {};
  if (stepUp?.state === 'PENDING') return 'Notified';
  if (stepUp?.state === 'CONFIRMED' || stepUp?.state === 'COMPLETED') return 'Agreed';
  if (priceChangeMode === 'PRICE_DECREASE') return undefined;
  if (priceChangeState === 'OUTSTANDING') return 'Notified';
  if (priceChangeState === 'APPLIED') return 'Agreed';
  if (priceChangeState === 'CONFIRMED') return priceChangeMode === 'OPT_OUT_PRICE_INCREASE' ? 'Notified' : 'Agreed';
  return undefined;
}
