import type { EmulatedStore } from '../emulated-store.ts';
import { cancel, end, failPayment, recover, renew, type Step, uncancel } from './life.ts';
import { refund, revoke } from './money-back.ts';
import { pause, resume } from './pausing.ts';
import { changePlan } from './plan-change.ts';
import { type Shop, subscriptionNamed } from './shop.ts';

const steps: Readonly<Record<string, Step>> = {
  renew,
  cancel,
  uncancel,
  'fail-payment': failPayment,
  recover,
  expire: end,
  pause,
  resume,
  'change-plan': changePlan,
};

/** What can happen to what was sold. */
export function actionsIn(shop: Shop): EmulatedStore['actions'] {
  const lives = Object.entries(steps).map(([name, step]) => {
    const act: EmulatedStore['actions'][string] = (id, details) =>
      step(shop, subscriptionNamed(shop, id), shop.now(), details);
    return [name, act] as const;
  });
  return {
    ...Object.fromEntries(lives),
    refund: (purchaseId, details) => refund(shop, { purchaseId, at: shop.now(), details }),
    revoke: (purchaseId, details) => revoke(shop, { purchaseId, at: shop.now(), details }),
  };
}
