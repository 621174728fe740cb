import type { ActionSubject, ActionVerdict, ActionVerdicts } from '../purchase-action.ts';

/** Lists what the Braintree API can do with a purchase. */
export const listBraintreeVerdicts = (subject: ActionSubject): ActionVerdicts => ({
  refund: {
    effect: 'Braintree refunds the payment, or voids it before the settlement. The full refund ends access.',
    allowsPart: true,
  },
  cancel: toCancelationVerdict(subject),
  revoke: { why: 'Braintree does not end a paid period. Cancel the subscription and refund its payment.' },
  extend: { why: 'Braintree does not change the date of the next payment.' },
  finish: { why: 'Braintree has no such call: a payment needs no acknowledgement.' },
  'set-account': {
    why: 'Braintree does not change the customer of a payment. Link the purchase to the customer instead.',
  },
});

function toCancelationVerdict({ purchase }: ActionSubject): ActionVerdict {
  if (purchase.productType !== 'paid subscription') return { why: 'The purchase is not a subscription.' };
  if (purchase.renewalIntent !== 'Renew') return { why: 'The subscription does not renew.' };
  return { effect: 'The subscription ends with its paid period. It cannot be restored.' };
}
