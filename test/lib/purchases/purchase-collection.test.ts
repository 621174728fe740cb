import { describe, expect, it } from '@jest/globals';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { findCurrentSubscription, toPurchaseCollection } from '../../../lib/purchases/purchase-collection.ts';
import { createObservation, dayMs, startDate } from '../../../testing/given.ts';

const now = startDate + 10 * dayMs;

/** A month from `start`, and what differs. */
const monthly = (purchaseId: string, state: Partial<Purchase> = {}): Purchase =>
  createObservation({ purchaseId, ...state }).purchase;

function endless(purchaseId: string, state: Partial<Purchase> = {}): Purchase {
  const { expirationDate: _end, ...lasting } = monthly(purchaseId, state);
  return { productType: 'non renewing subscription', ...lasting };
}

/** Of two purchases of one product, in either order, the one that counts. */
function counting(one: Purchase, other: Purchase): string[] {
  const orders = [
    [one, other],
    [other, one],
  ];
  return orders.flatMap((purchases) => [
    ...Object.values(toPurchaseCollection(purchases, now)).map(({ purchaseId }) => purchaseId),
    findCurrentSubscription(purchases, now)?.purchaseId ?? 'none',
  ]);
}

const always = (purchaseId: string) => Array(4).fill(purchaseId);

describe('of two purchases of one product', () => {
  const active = monthly('active');

  it('an active one counts before one that is over, however long that would have lasted', () => {
    const refunded = monthly('refunded', { expirationDate: startDate + 365 * dayMs, endedAt: startDate + dayMs });
    expect(counting(active, refunded)).toEqual(always('active'));
    expect(counting(active, monthly('expired', { expirationDate: now }))).toEqual(always('active'));
    expect(counting(active, endless('pending', { isPending: true }))).toEqual(always('active'));
  });

  it('the one that lasts longer counts, and longest what has no end', () => {
    expect(counting(active, monthly('longer', { expirationDate: startDate + 32 * dayMs }))).toEqual(always('longer'));
    expect(counting(active, endless('endless'))).toEqual(always('endless'));
  });

  it('the one that was over later counts, and not the one that was taken away early', () => {
    const lapsed = monthly('lapsed', { expirationDate: startDate + 5 * dayMs });
    const refunded = monthly('refunded', { expirationDate: startDate + 31 * dayMs, endedAt: startDate + dayMs });
    expect(counting(lapsed, refunded)).toEqual(always('lapsed'));
  });

  it('the later one counts, of two without an end', () => {
    expect(counting(endless('first'), endless('second', { purchaseDate: startDate + dayMs }))).toEqual(
      always('second'),
    );
  });
});
