import { describe, expect, it } from '@jest/globals';
import { dayMs, hourMs } from '../../../lib/foundation/time.ts';
import { isExpired } from '../../../lib/purchases/purchase.ts';
import { computePurchaseChange, type PurchaseUpdate } from '../../../lib/purchases/purchase-change.ts';
import type { StoredPurchase } from '../../../lib/purchases/stored-purchase.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

const weekEnd = startDate + 7 * dayMs;
const { purchase } = createObservation({ expirationDate: weekEnd, renewalIntent: 'Renew' });
const bought = createObservation(purchase, {
  refreshToken: 'encrypted',
  transactions: [createTransaction(purchase, { expirationDate: weekEnd })],
} as never);

const update = (before: StoredPurchase | undefined, changes: Partial<PurchaseUpdate>): StoredPurchase => {
  const now = changes.now ?? startDate;
  return (
    computePurchaseChange(before, { trigger: 'notification', strategy: 'all', now, ...changes })?.after ??
    (before as StoredPurchase)
  );
};
const stored = update(undefined, { observation: bought });

/** Counts the hours of an outage after the expiration date in which access is denied. */
const countDenials = ({ state }: StoredPurchase): number =>
  Array.from({ length: 74 }, (_, hour) => weekEnd + hour * hourMs).filter((at) => isExpired(state.purchase, at)).length;

describe('unverified time of a subscription', () => {
  it('lasts 24 hours without a notification of the store', () => {
    expect(countDenials(stored)).toBe(50);
  });

  it.each([
    ['at the renewal', weekEnd],
    ['a day before it', weekEnd - dayMs + 1],
    ['hours after it', weekEnd + 20 * hourMs],
  ])('gives access for 73 hours after a verified notification of the renewal %s', (_case, date) => {
    const renewed = update(stored, { renewalNotice: { date }, now: date });
    expect(countDenials(renewed)).toBe(0);
    expect(renewed.state.purchase.expirationDate).toBe(weekEnd);
    expect(isExpired(renewed.state.purchase, Math.max(weekEnd, date) + 8 * dayMs)).toBe(true);
  });

  it('ignores a notification of an earlier renewal', () => {
    const earlier = update(stored, { renewalNotice: { date: weekEnd - 2 * dayMs }, now: weekEnd });
    expect(countDenials(earlier)).toBe(50);
  });

  it('ends with a verified notification of the end, in any order of both', () => {
    const notices = [{ date: weekEnd }, { date: weekEnd + hourMs, isEnd: true as const }];
    for (const order of [notices, notices.toReversed()]) {
      const after = order.reduce((before, renewalNotice) => update(before, { renewalNotice, now: weekEnd }), stored);
      expect(countDenials(after)).toBe(74);
    }
  });

  it('ends with the state that the store reports after it', () => {
    const renewed = update(stored, { renewalNotice: { date: weekEnd }, now: weekEnd });
    const observation = { ...bought, asOf: weekEnd + 2 * hourMs };
    const refreshed = update(renewed, { observation, now: weekEnd + 2 * hourMs });
    expect(countDenials(refreshed)).toBe(74);
    expect(refreshed.state.purchase).not.toHaveProperty('renewalNotice');
  });

  it('lasts one more period without EXPIRED if only the client can make the store available again', () => {
    const at = weekEnd + hourMs;
    const change = computePurchaseChange(stored, {
      trigger: 'refresh',
      strategy: 'all',
      awaitsCredentials: true,
      now: at,
    });
    const waiting = change?.after as StoredPurchase;
    expect(change?.lifecycleReasons).toEqual([]);
    expect(countDenials(waiting)).toBe(0);
    expect(isExpired(waiting.state.purchase, weekEnd + 8 * dayMs)).toBe(true);
    const validated = update(waiting, { observation: { ...bought, asOf: at + hourMs }, now: at + hourMs });
    expect(validated.state.purchase).not.toHaveProperty('awaitsCredentials');
    expect(countDenials(validated)).toBe(74);
  });

  it('leaves a canceled subscription without a renewal', () => {
    const canceled = update(undefined, {
      observation: { ...bought, purchase: { ...bought.purchase, renewalIntent: 'Lapse' } },
    });
    expect(countDenials(update(canceled, { renewalNotice: { date: weekEnd }, now: weekEnd }))).toBe(74);
  });
});
