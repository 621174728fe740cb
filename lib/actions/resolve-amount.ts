import { ServiceError } from '../foundation/errors.ts';
import type { Transaction } from '../purchases/transaction.ts';
import type { PossibleAction } from '../stores/purchase-action.ts';
import { computeRefundableMicros } from './select-payment.ts';

interface RefundedPart {
  readonly action: string;
  readonly amountMicros?: number | undefined;
  readonly quantity?: number | undefined;
}

/**
 * Returns the part of a payment to refund. Undefined: what is left of it. A quantity is converted to its share of the
 * payment. Throws `InvalidPayload` for a part that the store does not refund, or that is not left.
 */
export function resolveAmount(
  { action, amountMicros, quantity }: RefundedPart,
  { allowsPart }: PossibleAction,
  payment: Transaction | undefined,
): number | undefined {
  if (amountMicros === undefined && quantity === undefined) return undefined;
  if (action !== 'refund')
    throw new ServiceError('InvalidPayload', 'amountMicros and quantity: expected for a refund only.');
  if (!allowsPart) throw new ServiceError('InvalidPayload', 'The store refunds the whole payment only.');
  const left = payment && computeRefundableMicros(payment);
  if (payment?.amountMicros === undefined || left === undefined)
    throw new ServiceError('InvalidPayload', 'The store does not report the amount of the payment.');
  const bought = payment.quantity ?? 1;
  if (quantity !== undefined && quantity > bought)
    throw new ServiceError('InvalidPayload', `quantity: the payment is for ${bought}.`);
  const part = amountMicros ?? Math.round((payment.amountMicros * (quantity ?? bought)) / bought);
  if (part > left) throw new ServiceError('InvalidPayload', `amountMicros: only ${left} are left to refund.`);
  return part === left ? undefined : part;
}
