import { expect } from '@jest/globals';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import { type Microsoft, startTime } from './fake-microsoft.ts';

/** Ends of the first two months of a subscription bought at `startTime`. */
export const monthEnd = Date.parse('2027-02-28T10:00:00Z');
export const nextMonthEnd = Date.parse('2027-03-31T10:00:00Z');

/** An action of the control API with its details, or an ISO 8601 duration by which the clock advances. */
export type Step = readonly [action: string, details?: object] | string;

let purchaseCount = 0;

/** Buys at `startTime`, performs the steps and validates the purchase. Fails if a step is not possible. */
export async function runHistory(microsoft: Microsoft, steps: readonly Step[], order: object = {}) {
  microsoft.clock.set(startTime);
  purchaseCount += 1;
  const { id } = await microsoft.createPurchase({ productId: `product ${purchaseCount}`, ...order });
  for (const step of steps) {
    const { status } = typeof step === 'string' ? await microsoft.advance(step) : await microsoft.act(id, ...step);
    expect(status).toBe(200);
  }
  const { purchase, transactions } = await microsoft.getObservation(id);
  const { purchaseId, transactionId } = purchase;
  const renewal = transactionId.slice(purchaseId.length);
  return { purchase, transactions, renewal, expired: isExpired(purchase, microsoft.clock.now()) };
}
