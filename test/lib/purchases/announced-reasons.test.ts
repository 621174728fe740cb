import { describe, expect, it } from '@jest/globals';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import {
  computePurchaseChange,
  type PurchaseUpdate,
  type StoredPurchase,
} from '../../../lib/purchases/purchase-change.ts';
import { createObservation, createTransaction, dayMs, startDate } from '../../../testing/given.ts';

const happening = (fields: Partial<PurchaseUpdate>): PurchaseUpdate => ({
  trigger: 'notification',
  strategy: 'all',
  now: startDate,
  ...fields,
});

/** A purchase as it is stored after what happened, and what that announces. */
function told(before: StoredPurchase | undefined, fields: Partial<PurchaseUpdate>) {
  const change = computePurchaseChange(before, happening(fields));
  return { stored: change?.after ?? before, news: change?.announcedReasons ?? [] };
}

const look = (state: Partial<Purchase> = {}, asOf = startDate) => createObservation(state, { asOf });
const byAnn = { username: 'ann', source: 'validation' } as const;
const owned = told(undefined, { trigger: 'validation', observation: look(), claim: byAnn }).stored;
const unowned = told(undefined, { observation: look() }).stored;
const later = { now: startDate + dayMs };

describe('the application server', () => {
  it('hears of a purchase and of its validation when a client shows it first', () => {
    const { news } = told(undefined, { trigger: 'validation', observation: look(), claim: byAnn });
    expect(news).toEqual(['PURCHASED', 'RECEIPT_VALIDATED']);
  });

  it('hears of a purchase that the store told of first when it has its first owner', () => {
    const { news } = told(unowned, { ...later, trigger: 'validation', observation: look(), claim: byAnn });
    expect(news).toEqual(['PURCHASED', 'RECEIPT_VALIDATED']);
    expect(told(unowned, { ...later, storeUser: 'ann', observation: look() }).news).toEqual(['PURCHASED']);
  });

  it('hears nothing when a client shows again what is known', () => {
    const again = { ...later, cause: 'validation', observation: look({}, startDate + dayMs), claim: byAnn } as const;
    expect(told(owned, again).news).toEqual([]);
  });

  it('hears that a further user validated, and of no purchase then', () => {
    const claim = { username: 'bob', source: 'validation' } as const;
    expect(told(owned, { ...later, trigger: 'validation', claim }).news).toEqual(['RECEIPT_VALIDATED']);
  });

  it('hears of a link by hand under no lifecycle word', () => {
    const claim = { username: 'bob', source: 'manual' } as const;
    expect(told(owned, { ...later, trigger: 'link', claim }).news).toEqual(['OTHER']);
  });

  it('hears once that an earlier period was taken back, and that the present one has run out since', () => {
    const first = createTransaction(look().purchase, { refundedAt: startDate + dayMs, amountMicros: 0 });
    const renewed = look(
      { transactionId: 'store_a:2', expirationDate: startDate + 62 * dayMs },
      startDate + 31 * dayMs,
    );
    const { stored } = told(owned, { now: startDate + 31 * dayMs, observation: renewed });
    const observation = { ...renewed, asOf: startDate + 70 * dayMs, transactions: [first, ...renewed.transactions] };
    expect(told(stored, { now: startDate + 70 * dayMs, observation, storeReason: 'REVOKED' }).news).toEqual([
      'REVOKED',
      'EXPIRED',
    ]);
  });

  it.each<[string, Partial<Purchase>, PurchaseUpdate['trigger'], string[]]>([
    ['a renewal that the store tells of', { transactionId: 'store_a:2' }, 'notification', ['RENEWED']],
    ['a renewal that a look found', { transactionId: 'store_a:2' }, 'refresh', ['RENEWED']],
    ['another change that a look found', { discountId: 'SUMMER' }, 'refresh', ['RECEIPT_REFRESHED']],
    ['another change that the store tells of', { discountId: 'SUMMER' }, 'notification', ['OTHER']],
    ['a date of a wish', { renewalIntentChangeDate: startDate }, 'notification', []],
    ['nothing new', {}, 'refresh', []],
  ])('hears of %s', (_what, state, trigger, expected) => {
    expect(told(owned, { ...later, trigger, observation: look(state, startDate + dayMs) }).news).toEqual(expected);
  });

  it('hears once of a purchase that was taken away, however many messages date its end', () => {
    const taken = { renewalIntent: 'Lapse', cancelationReason: 'System' } as const;
    const observation = look({ ...taken, expirationDate: startDate + dayMs }, startDate + dayMs);
    const first = told(owned, { ...later, observation });
    expect(first.news).toEqual(['EXPIRED']);
    const dated = look(
      { ...taken, expirationDate: startDate + dayMs, endedAt: startDate + dayMs - 5000 },
      startDate + dayMs + 1,
    );
    expect(told(first.stored, { ...later, observation: dated }).news).toEqual([]);
    const because = look(
      { ...taken, cancelationReason: 'Customer', endedAt: startDate + dayMs - 5000 },
      startDate + dayMs + 2,
    );
    expect(told(first.stored, { ...later, observation: because }).news).toEqual(['OTHER']);
  });

  it('hears of a replaced purchase through its successor only', () => {
    const ended = { endedAt: startDate + dayMs, cancelationReason: 'System.Replaced' } as const;
    const old = told(owned, { ...later, observation: look(ended, startDate + dayMs) });
    expect(old.news).toEqual([]);
    const next = look(
      { purchaseId: 'store_a:2', transactionId: 'store_a:2', productId: 'store_a:yearly' },
      startDate + dayMs,
    );
    const replaced = old.stored && { replaced: old.stored };
    const successor = told(undefined, { ...later, observation: next, ...replaced });
    expect(successor.news).toEqual(['PLAN_CHANGED']);
    expect(successor.stored?.entitledUsers).toEqual(['ann']);
  });

  it('hears of an expiry by the clock once the store could not be asked for long, and once only', () => {
    const refreshable = told(undefined, {
      trigger: 'validation',
      observation: { ...look(), refreshToken: 'sealed' },
      claim: byAnn,
    });
    let stored = refreshable.stored;
    const heard: string[][] = [];
    for (let hour = 1; hour <= 8; hour++) {
      const next = told(stored, { trigger: 'refresh', now: startDate + 31 * dayMs + hour * 3_600_000 });
      heard.push([...next.news]);
      stored = next.stored;
    }
    expect(heard.flat()).toEqual(['EXPIRED']);
    expect(heard.findIndex((news) => news.length > 0)).toBe(5);
  });
});
