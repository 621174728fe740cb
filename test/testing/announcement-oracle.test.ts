import { describe, expect, it } from '@jest/globals';
import type { Platform } from '../../lib/foundation/platform.ts';
import {
  findAnnouncementProblems,
  type LedgerInterval,
  type LedgerState,
  readLedgerState,
} from '../../testing/announcement-oracle.ts';

const paid: LedgerState = { period: 'first', returned: [0], isRunning: true, productId: 'premium' };
const renewed = { ...paid, period: 'second' };
const skipped = { ...renewed, isCharged: false };
const refunded = { ...paid, returned: [5] };
const expired = { ...paid, isRunning: false };
const interval: LedgerInterval = {
  before: paid,
  states: [paid],
  reversals: 0,
  isReplaced: false,
  isSuccessor: false,
  itemRefunds: 0,
  owedRefunds: 0,
};

const cases: readonly (readonly [title: string, Partial<LedgerInterval>, reasons: string, problems: string[]])[] = [
  ['no change', {}, '', []],
  ['a first purchase', { before: undefined }, 'PURCHASED', []],
  ['a second start', {}, 'PURCHASED', ['starts: 1 instead of 0']],
  ['the start of a successor', { before: undefined, isSuccessor: true }, 'PURCHASED', ['starts: 1 instead of 0']],
  ['a renewal', { states: [renewed] }, 'RENEWED', []],
  ['a missing renewal', { states: [renewed] }, '', ['payments: 0 instead of 1']],
  ['a repeated renewal', { states: [renewed] }, 'RENEWED RENEWED', ['payments: 2 instead of 1']],
  ['two renewals at once', { states: [renewed, { ...paid, period: 'third' }] }, 'RENEWED', []],
  ['a renewal that a credit covers', { states: [skipped] }, '', []],
  ['a renewal without a payment', { states: [skipped] }, 'RENEWED', ['payments: 1 instead of 0']],
  [
    'a payment after a skipped one',
    { before: skipped, states: [{ ...paid, period: 'third' }] },
    '',
    ['payments: 0 instead of 1'],
  ],
  ['a plan change at the next renewal', { states: [{ ...paid, nextProductId: 'basic' }] }, 'PLAN_CHANGED', []],
  ['a plan change that is not in the records', {}, 'PLAN_CHANGED', ['payments: 1 instead of 0']],
  ['a refund', { states: [refunded] }, 'REFUNDED', []],
  ['a missing refund', { states: [refunded] }, '', ['refunds: 0 instead of 1']],
  ['a repeated refund', { states: [refunded] }, 'REFUNDED REVOKED', ['refunds: 2 instead of 1']],
  ['the refund of a further item', { states: [refunded], itemRefunds: 1 }, '', []],
  ['an end', { states: [expired] }, 'EXPIRED', []],
  ['a missing end', { states: [expired] }, '', ['ends: 0 instead of 1']],
  ['an end of a running purchase', {}, 'EXPIRED', ['ends: 1 instead of 0']],
  ['an end by a refund', { states: [{ ...refunded, isRunning: false }] }, 'REVOKED', []],
  ['the end of a replaced purchase', { states: [expired], isReplaced: true }, '', []],
  ['access that returns', { before: expired }, 'RENEWED', []],
  ['access that returns without an announcement', { before: expired }, '', ['payments: 0 instead of 1']],
];

describe('findAnnouncementProblems', () => {
  it.each(cases)('compares %s with the reasons', (_title, changes, reasons, problems) => {
    const platform: Platform = 'store_a';
    const received = reasons === '' ? [] : reasons.split(' ');
    expect(findAnnouncementProblems(platform, { ...interval, ...changes }, received)).toEqual(problems);
  });

  it('accepts the refund of the Microsoft Store after the end that it has caused, once', () => {
    const end = { ...interval, states: [{ ...refunded, isRunning: false }], reversals: 1 };
    expect(findAnnouncementProblems('store_c', end, ['REVOKED'])).toEqual([]);
    const later = { ...interval, before: end.states[0], states: end.states, owedRefunds: 1 };
    expect(findAnnouncementProblems('store_c', later, ['REFUNDED'])).toEqual([]);
    expect(findAnnouncementProblems('store_a', later, ['REFUNDED'])).toEqual(['refunds: 1 instead of 0']);
  });
});

describe('readLedgerState', () => {
  it.each([
    ['2027-02-28', true],
    ['2027-03-31', false],
  ])('returns for the period until %s of Braintree whether a payment started it', (paidThroughDate, isCharged) => {
    const summary = { productId: 'premium', paidThroughDate, payments: [{ periodEnd: '2027-02-28' }] };
    expect(readLedgerState('processor_b', summary, new Map())).toMatchObject({ period: paidThroughDate, isCharged });
  });
});
