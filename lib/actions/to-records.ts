import { isPossible } from '../stores/purchase-action.ts';
import type { PurchaseAction } from './contract.ts';
import type { ActionWithVerdict } from './list-actions.ts';
import { computeRefundableMicros } from './select-payment.ts';

/** Converts a decision about an action to its record. */
export function toActionRecord({ action, verdict, payment }: ActionWithVerdict): PurchaseAction {
  if (!isPossible(verdict)) return { action, isPossible: false, why: verdict.why, effect: null };
  const { effect, maxDays, allowsPart = false } = verdict;
  return {
    action,
    isPossible: true,
    why: null,
    effect,
    ...(maxDays !== undefined && { maxDays }),
    ...(action === 'refund' &&
      payment && {
        payment: {
          transactionId: payment.transactionId,
          amountMicros: computeRefundableMicros(payment) ?? null,
          currency: payment.currency ?? null,
          allowsPart: allowsPart && payment.amountMicros !== undefined,
        },
      }),
  };
}
