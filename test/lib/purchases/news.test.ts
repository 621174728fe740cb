import { describe, expect, it } from '@jest/globals';
import { changeOf, type Happening, type StoredPurchase } from '../../../lib/purchases/change.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { day, paid, seenPurchase, start } from '../../support/given.ts';

const happening = (fields: Partial<Happening>): Happening => ({
  cause: 'notification',
  strategy: 'all',
  now: start,
  ...fields,
});

/** A purchase as it is stored after what happened, and what that announces. */
function told(before: StoredPurchase | undefined, fields: Partial<Happening>) {
  const change = changeOf(before, happening(fields));
  return { stored: change?.after ?? before, news: change?.news ?? [] };
}

const look = (state: Partial<Purchase> = {}, asOf = start) => seenPurchase(state, { asOf });
const byAnn = { username: 'ann', how: 'validation' } as const;
const owned = told(undefined, { cause: 'validation', observed: look(), claim: byAnn }).stored;
const unowned = told(undefined, { observed: look() }).stored;
const later = { now: start + day };

describe('the application server', () => {
  it('hears of a purchase and of its validation when a client shows it first', () => {
    const { news } = told(undefined, { cause: 'validation', observed: look(), claim: byAnn });
    expect(news).toEqual(['PURCHASED', 'RECEIPT_VALIDATED']);
  });

  it('hears of a purchase that the store told of first when it has its first owner', () => {
    const { news } = told(unowned, { ...later, cause: 'validation', observed: look(), claim: byAnn });
    expect(news).toEqual(['PURCHASED', 'RECEIPT_VALIDATED']);
    expect(told(unowned, { ...later, named: 'ann', observed: look() }).news).toEqual(['PURCHASED']);
  });

  it('hears nothing when a client shows again what is known', () => {
    const again = { ...later, cause: 'validation', observed: look({}, start + day), claim: byAnn } as const;
    expect(told(owned, again).news).toEqual([]);
  });

  it('hears that a further user validated, and of no purchase then', () => {
    const claim = { username: 'bob', how: 'validation' } as const;
    expect(told(owned, { ...later, cause: 'validation', claim }).news).toEqual(['RECEIPT_VALIDATED']);
  });

  it('hears of a link by hand under no lifecycle word', () => {
    const claim = { username: 'bob', how: 'manual' } as const;
    expect(told(owned, { ...later, cause: 'link', claim }).news).toEqual(['OTHER']);
  });

  it('hears once that an earlier period was taken back, and that the present one has run out since', () => {
    const first = paid(look().purchase, { refundedAt: start + day, amountMicros: 0 });
    const renewed = look({ transactionId: 'store_a:2', expirationDate: start + 62 * day }, start + 31 * day);
    const { stored } = told(owned, { now: start + 31 * day, observed: renewed });
    const observed = { ...renewed, asOf: start + 70 * day, transactions: [first, ...renewed.transactions] };
    expect(told(stored, { now: start + 70 * day, observed, told: 'REVOKED' }).news).toEqual(['REVOKED', 'EXPIRED']);
  });

  it.each<[string, Partial<Purchase>, Happening['cause'], string[]]>([
    ['a renewal that the store tells of', { transactionId: 'store_a:2' }, 'notification', ['RENEWED']],
    ['a renewal that a look found', { transactionId: 'store_a:2' }, 'refresh', ['RENEWED']],
    ['another change that a look found', { discountId: 'SUMMER' }, 'refresh', ['RECEIPT_REFRESHED']],
    ['another change that the store tells of', { discountId: 'SUMMER' }, 'notification', ['OTHER']],
    ['a date of a wish', { renewalIntentChangeDate: start }, 'notification', []],
    ['nothing new', {}, 'refresh', []],
  ])('hears of %s', (_what, state, cause, expected) => {
    expect(told(owned, { ...later, cause, observed: look(state, start + day) }).news).toEqual(expected);
  });

  it('hears once of a purchase that was taken away, however many messages date its end', () => {
    const taken = { renewalIntent: 'Lapse', cancelationReason: 'System' } as const;
    const observed = look({ ...taken, expirationDate: start + day }, start + day);
    const first = told(owned, { ...later, observed });
    expect(first.news).toEqual(['EXPIRED']);
    const dated = look({ ...taken, expirationDate: start + day, endedAt: start + day - 5000 }, start + day + 1);
    expect(told(first.stored, { ...later, observed: dated }).news).toEqual([]);
    const because = look({ ...taken, cancelationReason: 'Customer', endedAt: start + day - 5000 }, start + day + 2);
    expect(told(first.stored, { ...later, observed: because }).news).toEqual(['OTHER']);
  });

  it('hears of a replaced purchase through its successor only', () => {
    const ended = { endedAt: start + day, cancelationReason: 'System.Replaced' } as const;
    const old = told(owned, { ...later, observed: look(ended, start + day) });
    expect(old.news).toEqual([]);
    const next = look(
      { purchaseId: 'store_a:2', transactionId: 'store_a:2', productId: 'store_a:yearly' },
      start + day,
    );
    const replaced = old.stored && { replaced: old.stored };
    const successor = told(undefined, { ...later, observed: next, ...replaced });
    expect(successor.news).toEqual(['PLAN_CHANGED']);
    expect(successor.stored?.entitledUsers).toEqual(['ann']);
  });

  it('hears of an expiry by the clock once the store could not be asked for long, and once only', () => {
    const refreshable = told(undefined, {
      cause: 'validation',
      observed: { ...look(), refreshToken: 'sealed' },
      claim: byAnn,
    });
    let stored = refreshable.stored;
    const heard: string[][] = [];
    for (let hour = 1; hour <= 8; hour++) {
      const next = told(stored, { cause: 'refresh', now: start + 31 * day + hour * 3_600_000 });
      heard.push([...next.news]);
      stored = next.stored;
    }
    expect(heard.flat()).toEqual(['EXPIRED']);
    expect(heard.findIndex((news) => news.length > 0)).toBe(5);
  });
});
