import { isActive } from '../../purchases/purchase.ts';
import type { ActionSubject, ActionVerdict, ActionVerdicts } from '../purchase-action.ts';

const maxDays = 366;

/**
 * Lists what the purchase API of the Microsoft Store can do: it changes subscriptions only.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/change-the-billing-state-of-a-subscription-for-a-user
 */
export const listMicrosoftStoreVerdicts = (subject: ActionSubject): ActionVerdicts => ({
  refund: requireRunning(subject, {
    effect: 'Microsoft ends the subscription now and refunds the rest of its period.',
  }),
  cancel:
    subject.purchase.renewalIntent === 'Renew'
      ? requireRunning(subject, { effect: 'The subscription ends with its paid period.' })
      : { why: 'The subscription does not renew.' },
  revoke: { why: 'The Microsoft Store ends access only with a refund.' },
  extend: requireRunning(subject, { effect: 'Microsoft moves the end of the period, without a charge.', maxDays }),
  finish: { why: 'The Microsoft Store has no such call: the app or this service consumes purchases.' },
  'set-account': { why: 'The Microsoft Store has no such call. Link the purchase to the customer instead.' },
});

function requireRunning({ purchase, now }: ActionSubject, possible: ActionVerdict): ActionVerdict {
  if (purchase.productType !== 'paid subscription') return { why: 'The Microsoft Store changes subscriptions only.' };
  if (!isActive(purchase, now)) return { why: 'The subscription gives no access.' };
  if (purchase.isBillingRetryPeriod === true)
    return { why: 'The Microsoft Store does not change a subscription during a failed payment.' };
  return possible;
}
