import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { findCurrentSubscription, toPurchaseCollection } from '../../../lib/purchases/purchase-collection.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const now = startDate + 10 * dayMs;

/** A subscription of one month from `startDate`. */
const createMonthly = (purchaseId: string, state: Partial<Purchase> = {}): Purchase =>
  createObservation({ purchaseId, ...state }).purchase;

function createEndless(purchaseId: string, state: Partial<Purchase> = {}): Purchase {
  const { expirationDate: _end, ...purchase } = createMonthly(purchaseId, state);
  return { productType: 'non renewing subscription', ...purchase };
}

/** Lists the ids of the purchase that takes precedence, for both functions and both orders. */
function listPreferred(a: Purchase, b: Purchase): string[] {
  const orders = [
    [a, b],
    [b, a],
  ];
  return orders.flatMap((purchases) => [
    ...Object.values(toPurchaseCollection(purchases, now)).map(({ purchaseId }) => purchaseId),
    findCurrentSubscription(purchases, now)?.purchaseId ?? 'none',
  ]);
}

const repeatId = (purchaseId: string) => Array(4).fill(purchaseId);

describe('toPurchaseCollection and findCurrentSubscription', () => {
  const active = createMonthly('active');

  it('prefer an active purchase to an ended one with a later expiration', () => {
    const refunded = createMonthly('refunded', { expirationDate: startDate + 365 * dayMs, endedAt: startDate + dayMs });
    expect(listPreferred(active, refunded)).toEqual(repeatId('active'));
    expect(listPreferred(active, createMonthly('expired', { expirationDate: now }))).toEqual(repeatId('active'));
    expect(listPreferred(active, createEndless('pending', { isPending: true }))).toEqual(repeatId('active'));
  });

  it('prefer the later expiration, and a purchase without expiration most', () => {
    expect(listPreferred(active, createMonthly('longer', { expirationDate: startDate + 32 * dayMs }))).toEqual(
      repeatId('longer'),
    );
    expect(listPreferred(active, createEndless('endless'))).toEqual(repeatId('endless'));
  });

  it('prefer the purchase that ended later to a refunded one', () => {
    const lapsed = createMonthly('lapsed', { expirationDate: startDate + 5 * dayMs });
    const refunded = createMonthly('refunded', { expirationDate: startDate + 31 * dayMs, endedAt: startDate + dayMs });
    expect(listPreferred(lapsed, refunded)).toEqual(repeatId('lapsed'));
  });

  it('prefer the later purchase date if two purchases have no expiration', () => {
    expect(listPreferred(createEndless('first'), createEndless('second', { purchaseDate: startDate + dayMs }))).toEqual(
      repeatId('second'),
    );
  });
});
