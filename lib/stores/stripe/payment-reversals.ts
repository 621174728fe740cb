import type { PartialRefund } from '../../purchases/transaction.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { toMillis } from './convert.ts';
import { toMicros } from './money.ts';
import type { Charge, Dispute, Refund } from './payloads.ts';

/** Return of a whole payment, or of its rest, to the customer. */
export interface PaymentReversal {
  readonly at: EpochMillis;
  readonly kind: 'refund' | 'dispute';
}

/** The money of one payment that was returned to the customer. */
export interface PaymentReversals {
  /** Full refund or lost dispute. Revokes the purchase. */
  readonly full: PaymentReversal | undefined;
  /** Refunds of parts of the payment. They do not revoke the purchase. */
  readonly partialRefunds: readonly PartialRefund[];
}

/**
 * Returns the reversals of a charge. The refund that completes a full refund is not a partial refund. Stripe lists the
 * newest refund first, and the order decides between refunds of the same second.
 */
function toPaymentReversals(charge: Charge, disputes: readonly Dispute[]): PaymentReversals {
  const refunds = [...(charge.refunds?.data ?? [])]
    .reverse()
    .filter(({ status }) => status !== 'failed' && status !== 'canceled')
    .sort((a, b) => a.created - b.created);
  const completing = charge.refunded ? refunds.at(-1) : undefined;
  const partial = refunds.filter((refund) => refund !== completing && refund.status === 'succeeded');
  return {
    full: findLostDispute(charge, disputes) ?? toFullRefund(charge, completing),
    partialRefunds: partial.map((refund) => toPartialRefund(refund, charge)),
  };
}

/** A dispute withdraws the payment when it is opened and returns it when it is won. Only a lost dispute is final. */
function findLostDispute({ id }: Charge, disputes: readonly Dispute[]): PaymentReversal | undefined {
  const lost = disputes.find(({ charge, status }) => charge === id && status === 'lost');
  return lost && { at: toMillis(lost.created), kind: 'dispute' };
}

const toFullRefund = ({ refunded, created }: Charge, refund: Refund | undefined): PaymentReversal | undefined =>
  refunded ? { at: toMillis(refund?.created ?? created), kind: 'refund' } : undefined;

const toPartialRefund = ({ id, created, amount }: Refund, { currency }: Charge): PartialRefund => ({
  id,
  date: toMillis(created),
  amountMicros: toMicros(amount, currency),
});

/** Returns the fields of a transaction that describe its refunds. */
export const toRefundFields = (reversals: PaymentReversals | undefined) => ({
  ...(reversals?.full && { refundedAt: reversals.full.at }),
  ...(reversals && reversals.partialRefunds.length > 0 && { partialRefunds: reversals.partialRefunds }),
});

/** Indexes reversals by charge id and payment intent id, because an invoice can name either. */
export function indexReversals(
  charges: readonly Charge[],
  disputes: readonly Dispute[],
): ReadonlyMap<string, PaymentReversals> {
  const index = new Map<string, PaymentReversals>();
  for (const charge of charges.filter(({ paid }) => paid)) {
    const reversals = toPaymentReversals(charge, disputes);
    for (const id of [charge.id, charge.payment_intent]) if (id) index.set(id, reversals);
  }
  return index;
}
