import type { EpochMillis } from '../../shared/time.ts';
import { toMillis } from './convert.ts';
import type { Charge, Dispute } from './payloads.ts';

/** Money that went back to the customer. */
export interface PaymentReversal {
  readonly at: EpochMillis;
  readonly kind: 'refund' | 'dispute';
}

/** When all of a charge went back, by a full refund or a lost dispute; a partial refund takes nothing away. */
export function findReversal(charge: Charge, disputes: readonly Dispute[]): PaymentReversal | undefined {
  const lost = disputes.find(({ charge: disputed, status }) => disputed === charge.id && status === 'lost');
  if (lost) return { at: toMillis(lost.created), kind: 'dispute' };
  if (!charge.refunded) return undefined;
  const dates = (charge.refunds?.data ?? []).map(({ created }) => created);
  return { at: toMillis(Math.max(charge.created, ...dates)), kind: 'refund' };
}

/** Takebacks by the id of the charge and of its payment intent, either of which an invoice may name. */
export function indexReversals(
  charges: readonly Charge[],
  disputes: readonly Dispute[],
): ReadonlyMap<string, PaymentReversal> {
  const takebacks = new Map<string, PaymentReversal>();
  for (const charge of charges) {
    const takeback = findReversal(charge, disputes);
    if (!takeback) continue;
    for (const id of [charge.id, charge.payment_intent]) if (id) takebacks.set(id, takeback);
  }
  return takebacks;
}
