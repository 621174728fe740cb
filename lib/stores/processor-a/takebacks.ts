import type { Millis } from '../../purchases/purchase.ts';
import { millis } from './defined.ts';
import type { Charge, Dispute } from './objects.ts';

/** Money that went back to the customer. */
export interface Takeback {
  readonly at: Millis;
  readonly how: 'refund' | 'dispute';
}

/** When all of a charge went back, by a full refund or a lost dispute; a partial refund takes nothing away. */
export function takebackOf(charge: Charge, disputes: readonly Dispute[]): Takeback | undefined {
  const lost = disputes.find(({ charge: disputed, status }) => disputed === charge.id && status === 'lost');
  if (lost) return { at: millis(lost.created), how: 'dispute' };
  if (!charge.refunded) return undefined;
  const dates = (charge.refunds?.data ?? []).map(({ created }) => created);
  return { at: millis(Math.max(charge.created, ...dates)), how: 'refund' };
}

/** Takebacks by the id of the charge and of its payment intent, either of which an invoice may name. */
export function takebacksOf(charges: readonly Charge[], disputes: readonly Dispute[]): ReadonlyMap<string, Takeback> {
  const takebacks = new Map<string, Takeback>();
  for (const charge of charges) {
    const takeback = takebackOf(charge, disputes);
    if (!takeback) continue;
    for (const id of [charge.id, charge.payment_intent]) if (id) takebacks.set(id, takeback);
  }
  return takebacks;
}
