import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { withSubscription } from './purchase-transition.ts';
import type { Purchase } from './records.ts';

/** Makes the plan of a new subscription prepaid if the order says so: it does not renew. */
export function withPrepaidPlan(purchase: Purchase, { prepaid, trial, intro, autoRenew }: PurchaseOrder): Purchase {
  if (!prepaid) return purchase;
  if (trial || intro || autoRenew)
    throw controlError(422, 'prepaid: cannot be combined with trial, intro or autoRenew.');
  return withSubscription(purchase, { isPrepaid: true, autoRenew: false, renewsAutomatically: false });
}
