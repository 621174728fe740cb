import type { ActionBody } from '../purchase-order.ts';
import { getLatestPayment } from './collection-item.ts';
import { getUnusedPart, isChargeback, listOpenClawbacks, withClawback } from './payments.ts';
import type { Clawback, Purchase } from './records.ts';
import { terminate } from './recurrence-transitions.ts';

/** Refunds the latest payment. A return takes the product from the customer, who keeps it with `keep`. */
export function refund(purchase: Purchase, at: number, { prorated, keep }: ActionBody = {}): Purchase {
  const part = prorated && purchase.recurrence ? getUnusedPart(purchase, at) : undefined;
  const amount = part !== undefined && { amountMicros: Math.round(getLatestPayment(purchase).amountMicros * part) };
  const event = { source: '/Purchase/Refund', date: at, ...amount } as const;
  if (keep) return withClawback(purchase, { ...event, state: 'Refunded' });
  return withClawback(takeProduct(purchase, at), { ...event, state: getState(purchase) });
}

/** Takes the latest payment back for the customer's bank, even after a refund. */
export const chargeBack = (purchase: Purchase, at: number): Purchase =>
  withClawback(takeProduct(purchase, at), {
    source: '/Purchase/Chargeback',
    date: at,
    state: getState(purchase),
    ...(!isTaken(purchase) && { removed: purchase }),
  });

/**
 * Returns a payment that was charged back, and restores the product unless a return took it, too. A developer-managed
 * consumable is restored even if it was consumed.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
export function reverseChargeback(purchase: Purchase, at: number): Purchase {
  const open = listOpenClawbacks(getLatestPayment(purchase));
  const event = { source: '/Purchase/Chargeback', state: 'ChargebackReversal', date: at } as const;
  const reversed = withClawback(purchase, event);
  const { removed } = open.find(isChargeback) ?? {};
  const isReturned = open.some((clawback) => !isChargeback(clawback) && clawback.state !== 'Refunded');
  return removed === undefined || isReturned ? reversed : restore(reversed, removed, at);
}

function restore(purchase: Purchase, { item, recurrence }: NonNullable<Clawback['removed']>, at: number): Purchase {
  const restored = {
    ...purchase.item,
    status: item.status,
    quantity: getRestoredQuantity(purchase, item),
    modifiedDate: at,
  };
  if (!recurrence || !purchase.recurrence) return { ...purchase, item: restored };
  const { cancellationDate: _date, ...current } = purchase.recurrence;
  const { state, autoRenew, cancellationDate } = recurrence;
  const changes = { state, autoRenew, ...(cancellationDate !== undefined && { cancellationDate }), lastModified: at };
  return { ...purchase, item: restored, recurrence: { ...current, ...changes } };
}

function getRestoredQuantity(purchase: Purchase, { quantity }: Purchase['item']): number {
  if (purchase.item.kind !== 'Consumable') return 1;
  return purchase.item.quantity + Math.min(quantity, getLatestPayment(purchase).quantity);
}

const isTaken = ({ item, recurrence }: Purchase): boolean =>
  recurrence ? recurrence.state === 'Canceled' : item.status === 'Revoked';

/** The days of a subscription that were used, and a consumed item, cannot be returned. */
const getState = (purchase: Purchase): 'Returned' | 'Revoked' =>
  purchase.recurrence || isTaken(purchase) || purchase.item.quantity === 0 ? 'Revoked' : 'Returned';

/** Takes what the latest payment paid for. The balance of a consumable is never negative. */
function takeProduct(purchase: Purchase, at: number): Purchase {
  if (isTaken(purchase)) return purchase;
  if (purchase.recurrence) return terminate(purchase, at);
  const { item } = purchase;
  if (item.kind === 'Durable') return { ...purchase, item: { ...item, status: 'Revoked', modifiedDate: at } };
  const quantity = Math.max(0, item.quantity - getLatestPayment(purchase).quantity);
  return { ...purchase, item: { ...item, quantity, modifiedDate: at } };
}
