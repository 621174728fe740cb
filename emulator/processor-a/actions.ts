import type { EmulatedStore } from '../emulated-store.ts';
import { type AccountState, requireSubscription } from './account-state.ts';
import { pauseCollection, resumeCollection } from './pausing.ts';
import { loseDispute, refundPurchase } from './payment-reversals.ts';
import { changePlan } from './plan-change.ts';
import {
  cancelAtPeriodEnd,
  endSubscription,
  failPayment,
  recover,
  renew,
  resumeRenewal,
  type SubscriptionTransition,
} from './subscription-transitions.ts';

const steps: Readonly<Record<string, SubscriptionTransition>> = {
  renew,
  cancel: cancelAtPeriodEnd,
  uncancel: resumeRenewal,
  'fail-payment': failPayment,
  recover,
  expire: endSubscription,
  pause: pauseCollection,
  resume: resumeCollection,
  'change-plan': changePlan,
};

/** What can happen to what was sold. */
export function createActions(shop: AccountState): EmulatedStore['actions'] {
  const lives = Object.entries(steps).map(([name, step]) => {
    const act: EmulatedStore['actions'][string] = (id, details) =>
      step(shop, requireSubscription(shop, id), shop.now(), details);
    return [name, act] as const;
  });
  return {
    ...Object.fromEntries(lives),
    refund: (purchaseId, details) => refundPurchase(shop, { purchaseId, at: shop.now(), details }),
    revoke: (purchaseId, details) => loseDispute(shop, { purchaseId, at: shop.now(), details }),
  };
}
