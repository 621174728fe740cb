import type { EpochMillis } from '../../shared/time.ts';
import { toMillis } from './convert.ts';
import type { Charge, Dispute } from './payloads.ts';

/** Return of a whole payment to the customer. */
export interface PaymentReversal {
  readonly at: EpochMillis;
  readonly kind: 'refund' | 'dispute';
}

/** Finds the full refund or lost dispute of a charge. A partial refund does not revoke a purchase. */
export function findReversal(charge: Charge, disputes: readonly Dispute[]): PaymentReversal | undefined {
  const lost = disputes.find(({ charge: disputed, status }) => disputed === charge.id && status === 'lost');
  if (lost) return { at: toMillis(lost.created), kind: 'dispute' };
  if (!charge.refunded) return undefined;
  const dates = (charge.refunds?.data ?? []).map(({ created }) => created);
  return { at: toMillis(Math.max(charge.created, ...dates)), kind: 'refund' };
}

/** Indexes reversals by charge id and payment intent id, because an invoice can name either. */
export function indexReversals(
  charges: readonly Charge[],
  disputes: readonly Dispute[],
): ReadonlyMap<string, PaymentReversal> {
  const reversals = new Map<string, PaymentReversal>();
  for (const charge of charges) {
    const reversal = findReversal(charge, disputes);
    if (!reversal) continue;
    for (const id of [charge.id, charge.payment_intent]) if (id) reversals.set(id, reversal);
  }
  return reversals;
}
