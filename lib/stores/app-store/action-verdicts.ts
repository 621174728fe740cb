import { isActive } from '../../purchases/purchase.ts';
import type { ActionSubject, ActionVerdict, ActionVerdicts } from '../purchase-action.ts';

/** @see https://developer.apple.com/documentation/appstoreserverapi/extendbydays */
const maxDays = 90;

/**
 * Lists what the App Store Server API can do with a purchase. Apple decides about refunds, and only the customer
 * cancels.
 * @see https://developer.apple.com/documentation/appstoreserverapi
 */
export function listAppStoreVerdicts(subject: ActionSubject): ActionVerdicts {
  const { purchase } = subject;
  return {
    refund: {
      why: 'Apple decides about refunds. The customer requests one at https://reportaproblem.apple.com.',
    },
    cancel: {
      why: 'Apple cancels for the customer only, at https://apps.apple.com/account/subscriptions.',
    },
    revoke: { why: 'Apple revokes a purchase only when it refunds it.' },
    extend: toExtensionVerdict(subject),
    finish: { effect: 'Apple marks the transaction as finished, like the app after a delivery.' },
    'set-account':
      purchase.isSharedPurchase === true
        ? { why: 'Apple does not set the account of a family share.' }
        : { effect: 'Apple sets the appAccountToken of the purchase, from its current period on.' },
  };
}

/** @see https://developer.apple.com/documentation/appstoreserverapi/subscriptionextensionineligibleerror */
function toExtensionVerdict({ purchase, now }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription') return { why: 'Apple extends auto-renewing subscriptions only.' };
  if (purchase.isSharedPurchase === true)
    return { why: 'Apple extends a shared subscription with the one that is paid.' };
  if (!isActive(purchase, now)) return { why: 'Apple extends active subscriptions only.' };
  if (purchase.isBillingRetryPeriod === true) return { why: 'Apple does not extend during a failed payment.' };
  if (purchase.isTrialPeriod === true) return { why: 'Apple does not extend a free period.' };
  return {
    effect: 'Apple moves the renewal date and informs the customer. At most two extensions in 365 days are possible.',
    maxDays,
  };
}
