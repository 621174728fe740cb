import { describe, expect, it, test } from '@jest/globals';
import type { MappingContext } from '../../../../lib/stores/store-c/mapping-context.ts';
import { toRecurrenceObservation } from '../../../../lib/stores/store-c/recurrence-observation.ts';

const asOf = Date.parse('2027-02-15T00:00:00Z');
const at = (text: string): number => Date.parse(text);

const item = {
  expirationTime: '2027-02-28T10:00:00+00:00',
  id: 'mdr:0:abc:def',
  isTrial: false,
  productId: '9NBLGGH52Q8X',
  skuId: '0024',
  startTime: '2027-01-31T10:00:00+00:00',
  recurrenceState: 'Active',
};

const observe = (changes: object = {}, looking: Partial<MappingContext> = {}) =>
  toRecurrenceObservation(
    { ...item, ...changes },
    { asOf, sandbox: false, refreshToken: { productId: item.productId, purchaseKey: 'key' }, ...looking },
  );

describe('the payments of a subscription', () => {
  const told = (period: string) => ({ refreshToken: { productId: item.productId, period } });
  test.each<[string, object, Partial<MappingContext>, string | undefined, string]>([
    ['the first month', {}, {}, undefined, ''],
    ['the first month, told', {}, told('P1M'), undefined, ''],
    ['the second month, told', { expirationTime: '2027-03-31T10:00:00Z' }, told('P1M'), '2027-02-28T10', ':2027-03-31'],
    ['the third month, told', { expirationTime: '2027-04-30T10:00:00Z' }, told('P1M'), '2027-03-31T10', ':2027-04-30'],
    ['the first quarter, told', { expirationTime: '2027-04-30T10:00:00Z' }, told('P3M'), undefined, ''],
    ['the first year, told', { expirationTime: '2028-01-31T10:00:00Z' }, told('P1Y'), undefined, ''],
    ['the second year, told', { expirationTime: '2029-01-31T10:00:00Z' }, told('P1Y'), '2028-01-31T10', ':2029-01-31'],
    [
      'a month after a trial of a week, told',
      { expirationTime: '2027-03-07T10:00:00Z' },
      told('P1M'),
      '2027-02-07T10',
      ':2027-03-07',
    ],
    ['a later one of unknown length', { expirationTime: '2027-04-30T10:00:00Z' }, {}, undefined, ':2027-04-30'],
    [
      'a later one of unknown length, seen before',
      { expirationTime: '2027-04-30T10:00:00Z' },
      { previousExpiration: at('2027-03-31T10:00:00Z') },
      '2027-03-31T10',
      ':2027-04-30',
    ],
    ['a trial of three months', { isTrial: true, expirationTime: '2027-04-30T10:00:00Z' }, {}, undefined, ''],
    ['one in dunning', { recurrenceState: 'InDunning' }, {}, undefined, ''],
  ])('are told apart: %s', (_what, changes, looking, renewedAt, suffix) => {
    const lastRenewalDate = renewedAt === undefined ? undefined : at(`${renewedAt}:00:00Z`);
    const { purchase, transactions } = observe(changes, looking);
    expect(purchase.lastRenewalDate).toBe(lastRenewalDate);
    expect(purchase.transactionId).toBe(`store_c:mdr:0:abc:def${suffix}`);
    expect(transactions).toMatchObject([
      { transactionId: purchase.transactionId, purchaseDate: lastRenewalDate ?? at(item.startTime) },
    ]);
  });

  it('are none without any date', () => {
    expect(observe({ startTime: null }).transactions).toEqual([]);
  });
});
