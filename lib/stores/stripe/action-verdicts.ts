import { isActive } from '../../purchases/purchase.ts';
import type { ActionSubject, ActionVerdict, ActionVerdicts } from '../purchase-action.ts';

/** At most two years from the anchor of the billing cycle. @see https://docs.stripe.com/api/subscriptions/update */
const maxDays = 366;

/** Lists what the Stripe API can do with a purchase. */
export const listStripeVerdicts = (subject: ActionSubject): ActionVerdicts => ({
  refund: {
    effect: 'Stripe refunds the payment. The full refund of the current period ends access; renewals go on.',
    allowsPart: true,
  },
  cancel: toCancelationVerdict(subject),
  revoke: toRevocationVerdict(subject),
  extend: toExtensionVerdict(subject),
  finish: { why: 'Stripe has no such call: a payment needs no acknowledgement.' },
  'set-account': {
    why: 'Stripe does not change the customer of a payment. Link the purchase to the customer instead.',
  },
});

const notSubscription = { why: 'The purchase is not a subscription.' } as const;

function toCancelationVerdict({ purchase, now }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription') return notSubscription;
  if (purchase.renewalIntent !== 'Renew' || !isActive(purchase, now))
    return { why: 'The subscription does not renew.' };
  return { effect: 'The subscription ends with its paid period.' };
}

function toRevocationVerdict({ purchase, now }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription')
    return { why: 'Stripe ends subscriptions only. A full refund ends the access of a payment.' };
  if (!isActive(purchase, now)) return { why: 'The subscription gives no access.' };
  return { effect: 'The whole subscription ends now, without a refund.' };
}

function toExtensionVerdict({ purchase, now }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription') return notSubscription;
  if (!isActive(purchase, now)) return { why: 'Stripe extends active subscriptions only.' };
  if (purchase.isBillingRetryPeriod === true) return { why: 'Stripe does not extend during a failed payment.' };
  return { effect: 'The subscription is free for the days, and then bills on the new date.', maxDays };
}
