import { describe, expect, it } from '@jest/globals';
import type { MappingContext } from '../../../../lib/stores/microsoft-store/mapping-context.ts';
import { mapRecurrence, recurrenceItem } from './recurrence-fixture.ts';

const toTime = (text: string): number => Date.parse(text);

describe('toRecurrenceObservation (Microsoft Store) of payments', () => {
  const withPeriod = (period: string) => ({ refreshToken: { productId: recurrenceItem.productId, period } });
  it.each<[string, object, Partial<MappingContext>, string | undefined, string]>([
    ['the first month', {}, {}, undefined, ''],
    ['the first month with its period', {}, withPeriod('P1M'), undefined, ''],
    [
      'the second month with its period',
      { expirationTime: '2027-03-31T10:00:00Z' },
      withPeriod('P1M'),
      '2027-02-28T10',
      ':2027-03-31',
    ],
    [
      'the third month with its period',
      { expirationTime: '2027-04-30T10:00:00Z' },
      withPeriod('P1M'),
      '2027-03-31T10',
      ':2027-04-30',
    ],
    ['the first quarter with its period', { expirationTime: '2027-04-30T10:00:00Z' }, withPeriod('P3M'), undefined, ''],
    ['the first year with its period', { expirationTime: '2028-01-31T10:00:00Z' }, withPeriod('P1Y'), undefined, ''],
    [
      'the second year with its period',
      { expirationTime: '2029-01-31T10:00:00Z' },
      withPeriod('P1Y'),
      '2028-01-31T10',
      ':2029-01-31',
    ],
    [
      'a month with its period after a trial of a week',
      { expirationTime: '2027-03-07T10:00:00Z' },
      withPeriod('P1M'),
      '2027-02-07T10',
      ':2027-03-07',
    ],
    ['a later payment without a period', { expirationTime: '2027-04-30T10:00:00Z' }, {}, undefined, ':2027-04-30'],
    [
      'a later payment without a period after an earlier refresh',
      { expirationTime: '2027-04-30T10:00:00Z' },
      { previousExpiration: toTime('2027-03-31T10:00:00Z') },
      '2027-03-31T10',
      ':2027-04-30',
    ],
    ['a trial of three months', { isTrial: true, expirationTime: '2027-04-30T10:00:00Z' }, {}, undefined, ''],
    ['a subscription in dunning', { recurrenceState: 'InDunning' }, {}, undefined, ''],
  ])('identifies %s', (_case, changes, context, renewedAt, suffix) => {
    const lastRenewalDate = renewedAt === undefined ? undefined : toTime(`${renewedAt}:00:00Z`);
    const { purchase, transactions } = mapRecurrence(changes, context);
    expect(purchase.lastRenewalDate).toBe(lastRenewalDate);
    expect(purchase.transactionId).toBe(`store_c:mdr:0:abc:def${suffix}`);
    expect(transactions).toMatchObject([
      { transactionId: purchase.transactionId, purchaseDate: lastRenewalDate ?? toTime(recurrenceItem.startTime) },
    ]);
  });

  it('returns no transaction without dates', () => {
    expect(mapRecurrence({ startTime: null }).transactions).toEqual([]);
  });
});
