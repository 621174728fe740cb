import { expect } from '@jest/globals';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import { type Microsoft, start } from './fake-microsoft.ts';

/** In milliseconds. */
export const day = 86_400_000;

/** When a month bought at `start` ends, and when the next one does. */
export const monthEnd = Date.parse('2027-02-28T10:00:00Z');
export const nextMonthEnd = Date.parse('2027-03-31T10:00:00Z');

/** An action with its details, or a period by which the clock moves. */
export type Step = readonly [action: string, details?: object] | string;

let bought = 0;

/** Buys at `start`, lives the purchase through the steps, which must all be possible, and looks at it. */
export async function live(microsoft: Microsoft, steps: readonly Step[], order: object = {}) {
  microsoft.clock.set(start);
  bought += 1;
  const { id } = await microsoft.bought({ productId: `product ${bought}`, ...order });
  for (const step of steps) {
    const { status } = typeof step === 'string' ? await microsoft.advance(step) : await microsoft.act(id, ...step);
    expect(status).toBe(200);
  }
  const { purchase, transactions } = await microsoft.seen(id);
  const { purchaseId, transactionId } = purchase;
  const renewal = transactionId.slice(purchaseId.length);
  return { purchase, transactions, renewal, expired: isExpired(purchase, microsoft.clock.now()) };
}
