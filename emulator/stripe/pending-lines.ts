import { controlError } from '../control-error.ts';
import type { AccountObjects } from './account-objects.ts';
import { requirePossible } from './account-state.ts';
import { getOrCreatePrice } from './get-or-create-price.ts';
import type { InvoiceLineInput } from './invoice-line-input.ts';
import { buildInvoiceItemLine } from './invoice-lines.ts';
import { isEnded, type SubscriptionTransition } from './subscription-status.ts';

/** Adds invoice items that the next invoice of a subscription bills. */
export function addPendingLines(
  { pendingLines }: AccountObjects,
  id: string,
  lines: readonly InvoiceLineInput[],
): void {
  pendingLines.set(id, [...(pendingLines.get(id) ?? []), ...lines]);
}

/**
 * Takes the pending invoice items of a subscription, the latest first: an invoice lists them before the subscription
 * items.
 *
 * @see https://docs.stripe.com/api/invoices/object#invoice_object-lines
 */
export function takePendingLines({ pendingLines }: AccountObjects, id: string): InvoiceLineInput[] {
  const lines = [...(pendingLines.get(id) ?? [])].reverse();
  pendingLines.delete(id);
  return lines;
}

/** Adds a fee to the next invoice of a subscription. */
export const addInvoiceItem: SubscriptionTransition = (state, subscription, at, details) => {
  const { id, status, currency, livemode } = subscription;
  const { priceMicros, productId = 'extra' } = details;
  if (priceMicros === undefined) throw controlError(400, 'priceMicros is missing.');
  requirePossible(!isEnded(subscription), id, `is ${status}`);
  const request = { productId, type: 'consumable' as const, priceMicros, currency: currency.toUpperCase() };
  const price = getOrCreatePrice(state, request, { at, livemode });
  addPendingLines(state.records, id, [buildInvoiceItemLine(price, { quantity: 1, at })]);
  return id;
};
