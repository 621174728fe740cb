import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { withSubscription } from './purchase-transition.ts';
import type { Purchase, Subscription } from './records.ts';

/**
 * Makes the plan of a new subscription an installment plan if the order says so. The first payment is made.
 *
 * @see https://developer.android.com/google/play/billing/subscriptions#installments
 */
export function withInstallmentPlan(purchase: Purchase, order: PurchaseOrder): Purchase {
  const { installments, prepaid, trial, intro, addOns } = order;
  if (installments === undefined) return purchase;
  if (prepaid || trial || intro || addOns)
    throw controlError(422, 'installments: cannot be combined with prepaid, trial, intro or addOns.');
  return withSubscription(purchase, { installments: { initial: installments, remaining: installments - 1 } });
}

/** A cancelation by the customer takes effect later, after the committed payments. */
export const hasCommittedPayments = ({ installments }: Subscription): boolean => (installments?.remaining ?? 0) > 0;

/**
 * Returns the plan after a payment. A canceled plan ends with the period of the last committed payment, otherwise the
 * subscription then renews without a commitment.
 */
export function payInstallment({ installments, pendingCancellation }: Subscription): Partial<Subscription> {
  if (installments === undefined) return {};
  const remaining = Math.max(0, installments.remaining - 1);
  const isCanceled = pendingCancellation !== undefined && remaining === 0;
  return {
    installments: { ...installments, remaining },
    ...(isCanceled && { state: 'CANCELED', autoRenew: false, cancellation: { by: 'user', at: pendingCancellation } }),
  };
}
