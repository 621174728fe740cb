import type { EmulatedStore } from '../emulated-store.ts';
import { type AccountState, requireSubscription } from './account-state.ts';
import { forgive, refundOutside } from './credit-notes.ts';
import { endSubscription } from './end-subscription.ts';
import { billExtraInvoice, splitPayment } from './extra-payments.ts';
import { markUncollectible } from './failed-payments.ts';
import { addItem, removeItem } from './item-changes.ts';
import { moveTrial } from './move-trial.ts';
import { pause, pauseCollection, resume, resumeCollection } from './pausing.ts';
import { reportRefund } from './payment-records.ts';
import {
  answerInquiry,
  closeInquiry,
  loseDispute,
  openDispute,
  openInquiry,
  refundPurchase,
  reverseRefund,
  winDispute,
} from './payment-reversals.ts';
import { addInvoiceItem } from './pending-lines.ts';
import { abandonPending, payPending } from './pending-payment.ts';
import { changePlan } from './plan-change.ts';
import { scheduleEnd } from './schedules.ts';
import type { SubscriptionTransition } from './subscription-status.ts';
import { cancelAtPeriodEnd, failPayment, recover, renew, resumeRenewal } from './subscription-transitions.ts';
import { reportUsage } from './usage.ts';

const transitions: Readonly<Record<string, SubscriptionTransition>> = {
  renew,
  cancel: cancelAtPeriodEnd,
  uncancel: resumeRenewal,
  'fail-payment': failPayment,
  'mark-uncollectible': markUncollectible,
  recover,
  forgive,
  'split-payment': splitPayment,
  'extra-invoice': billExtraInvoice,
  'invoice-item': addInvoiceItem,
  'move-trial': moveTrial,
  'schedule-end': scheduleEnd,
  'report-usage': reportUsage,
  expire: endSubscription,
  pause,
  resume,
  'pause-collection': pauseCollection,
  'resume-collection': resumeCollection,
  'change-plan': changePlan,
  'add-item': addItem,
  'remove-item': removeItem,
};

/** Creates the actions of the control API. */
export function createActions(state: AccountState): EmulatedStore['actions'] {
  const subscriptionActions = Object.entries(transitions).map(([name, transition]) => {
    const act: EmulatedStore['actions'][string] = (id, details) =>
      transition(state, requireSubscription(state, id), state.now(), details);
    return [name, act] as const;
  });
  return {
    ...Object.fromEntries(subscriptionActions),
    pay: (purchaseId, details) => payPending(state, { purchaseId, at: state.now(), details }),
    abandon: (purchaseId, details) => abandonPending(state, { purchaseId, at: state.now(), details }),
    refund: (purchaseId, details) => refundPurchase(state, { purchaseId, at: state.now(), details }),
    'refund-outside': (purchaseId, details) =>
      (details.record ? reportRefund : refundOutside)(state, { purchaseId, at: state.now(), details }),
    'reverse-refund': (purchaseId, details) => reverseRefund(state, { purchaseId, at: state.now(), details }),
    inquire: (purchaseId, details) => openInquiry(state, { purchaseId, at: state.now(), details }),
    'answer-inquiry': (purchaseId, details) => answerInquiry(state, { purchaseId, at: state.now(), details }),
    'close-inquiry': (purchaseId, details) => closeInquiry(state, { purchaseId, at: state.now(), details }),
    dispute: (purchaseId, details) => openDispute(state, { purchaseId, at: state.now(), details }),
    'win-dispute': (purchaseId, details) => winDispute(state, { purchaseId, at: state.now(), details }),
    revoke: (purchaseId, details) => loseDispute(state, { purchaseId, at: state.now(), details }),
  };
}
