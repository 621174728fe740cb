import { dayMs } from '../../foundation/time.ts';
import { isActive } from '../../purchases/purchase.ts';
import type { ActionSubject, ActionVerdict, ActionVerdicts } from '../purchase-action.ts';

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/refund */
const maxRefundAgeMs = 3 * 365 * dayMs;

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/defer */
const maxDays = 365;

/** Lists what the Google Play Developer API can do with a purchase. */
export const listGooglePlayVerdicts = (subject: ActionSubject): ActionVerdicts => ({
  refund: toRefundVerdict(subject),
  cancel: toCancelationVerdict(subject),
  revoke: toRevocationVerdict(subject),
  extend: toDeferralVerdict(subject),
  finish: { why: 'Google Play has no such call: the app or this service acknowledges and consumes purchases.' },
  'set-account': toAccountVerdict(subject),
});

function toRefundVerdict({ payment, now }: ActionSubject): ActionVerdict {
  if (payment && now - payment.purchaseDate > maxRefundAgeMs)
    return { why: 'Google Play refunds orders of the last three years only.' };
  return { effect: 'Google Play refunds the whole order. Access and renewals go on; revoke ends them.' };
}

function toCancelationVerdict({ purchase }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription') return { why: 'The purchase is not a subscription.' };
  if (purchase.renewalIntent !== 'Renew' || purchase.endedAt !== undefined)
    return { why: 'The subscription does not renew.' };
  return { effect: 'The subscription ends with its paid period. The customer can restore it until then.' };
}

/** Google Play rejects the revocation of a subscription during a failed payment. */
function toRevocationVerdict({ purchase, now }: ActionSubject): ActionVerdict {
  if (!isActive(purchase, now)) return { why: 'The purchase gives no access.' };
  if (purchase.isBillingRetryPeriod === true) return { why: 'Google Play does not revoke during a failed payment.' };
  return { effect: 'Access ends now, and Google Play refunds the latest payment.' };
}

function toDeferralVerdict({ purchase, now }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription') return { why: 'The purchase is not a subscription.' };
  if (!isActive(purchase, now)) return { why: 'Google Play defers active subscriptions only.' };
  if (purchase.renewalIntent !== 'Renew') return { why: 'Google Play defers renewing subscriptions only.' };
  return { effect: 'Google Play moves the next payment, without a charge until then.', maxDays };
}

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions/acknowledge */
function toAccountVerdict({ purchase }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription' || purchase.isAcknowledged !== false)
    return { why: 'Google Play sets the account only of a resubscription in the Play Store that is not acknowledged.' };
  return { effect: 'Google Play sets the obfuscated account id of the resubscription, and acknowledges it.' };
}
