import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { isExpired, type Purchase } from '../../../../lib/purchases/purchase.ts';
import { withKnownPeriod } from '../../../../lib/stores/microsoft-store/known-period.ts';
import type { MappingContext } from '../../../../lib/stores/microsoft-store/mapping-context.ts';
import { createObservation, createTransaction, startDate } from '../../../../testing/given.ts';
import { asOf, mapRecurrence, recurrenceItem } from './recurrence-fixture.ts';

const toTime = (text: string): number => Date.parse(text);

const mapPurchase = (changes: object = {}, context: Partial<MappingContext> = {}) => {
  const { purchase } = mapRecurrence(changes, context);
  return { ...purchase, expired: isExpired(purchase, context.asOf ?? asOf) };
};

const expirationDate = toTime('2027-02-28T10:00:00.123Z');
const graceEnd = toTime('2027-03-14T10:00:00Z');

describe('toRecurrenceObservation (Microsoft Store) of each state', () => {
  const afterExpiration = { asOf: toTime('2027-03-01T00:00:00Z') };
  it.each<[string, object, Partial<MappingContext>, object]>([
    ['Active', {}, {}, { expired: false, renewalIntent: 'Renew', isBillingRetryPeriod: false, expirationDate }],
    ['Active without renewal', { autoRenew: false }, {}, { expired: false, renewalIntent: 'Lapse', expirationDate }],
    [
      'Active after its expiration',
      {},
      afterExpiration,
      { expired: false, expirationDate: graceEnd, isBillingRetryPeriod: true },
    ],
    [
      'Active after its expiration, without a grace period',
      { expirationTimeWithGrace: recurrenceItem.expirationTime },
      afterExpiration,
      { expired: true, expirationDate, isBillingRetryPeriod: false },
    ],
    [
      'Active without renewal, after its expiration',
      { autoRenew: false },
      afterExpiration,
      { expired: true, expirationDate },
    ],
    [
      'InDunning',
      { recurrenceState: 'InDunning' },
      afterExpiration,
      { expired: false, expirationDate: graceEnd, isBillingRetryPeriod: true, renewalIntent: 'Renew' },
    ],
    [
      'InDunning after its grace period',
      { recurrenceState: 'InDunning' },
      { asOf: graceEnd },
      { expired: true, expirationDate: graceEnd },
    ],
    [
      'Inactive',
      { recurrenceState: 'Inactive', autoRenew: false },
      afterExpiration,
      { expired: true, cancelationReason: 'Customer', renewalIntent: 'Lapse', expirationDate },
    ],
    [
      'Inactive before its expiration',
      { recurrenceState: 'Inactive', autoRenew: false },
      {},
      { expired: true, endedAt: toTime('2027-02-01T00:00:00Z') },
    ],
    [
      'Canceled',
      { recurrenceState: 'Canceled', cancellationDate: '2027-02-10T00:00:00+00:00' },
      {},
      {
        expired: true,
        cancelationReason: 'Unknown',
        renewalIntent: 'Lapse',
        endedAt: toTime('2027-02-10T00:00:00Z'),
        renewalIntentChangeDate: toTime('2027-02-10T00:00:00Z'),
      },
    ],
    [
      'Failed',
      { recurrenceState: 'Failed' },
      afterExpiration,
      { expired: true, cancelationReason: 'System.BillingError', renewalIntent: 'Lapse', expirationDate },
    ],
    ['Revoked', { recurrenceState: 'Revoked' }, {}, { expired: true, cancelationReason: 'Unknown' }],
    ['an unknown state', { recurrenceState: 'Dormant' }, {}, { expired: false, expirationDate }],
  ])('maps %s', (_state, changes, context, expected) => {
    expect(mapPurchase(changes, context)).toMatchObject(expected);
  });

  it('maps None to a subscription without expiration', () => {
    const perpetual = mapPurchase({ recurrenceState: 'None' });
    expect(perpetual).toMatchObject({ expired: false, transactionId: 'store_c:mdr:0:abc:def' });
    expect(perpetual).not.toHaveProperty('expirationDate');
  });

  it('sets no cancelation reason for active states', () => {
    for (const recurrenceState of ['Active', 'InDunning', 'None']) {
      expect(mapPurchase({ recurrenceState })).not.toHaveProperty('cancelationReason');
      expect(mapPurchase({ recurrenceState })).not.toHaveProperty('endedAt');
    }
  });

  it.each(['Active', 'Inactive', 'Canceled', 'Revoked', 'InDunning', 'Failed'])(
    'sets no refund date for %s',
    (recurrenceState) => {
      expect(mapRecurrence({ recurrenceState }).transactions[0]).not.toHaveProperty('refundedAt');
    },
  );
});

describe('toRecurrenceObservation (Microsoft Store)', () => {
  it('maps all fields', () => {
    expect(mapRecurrence()).toEqual({
      asOf,
      purchase: {
        purchaseId: 'store_c:mdr:0:abc:def',
        transactionId: 'store_c:mdr:0:abc:def',
        productId: 'store_c:9NBLGGH52Q8X',
        offerId: 'store_c:9NBLGGH52Q8X#0024',
        platform: 'store_c',
        productType: 'paid subscription',
        sandbox: false,
        purchaseDate: toTime(recurrenceItem.startTime),
        expirationDate,
        renewalIntent: 'Renew',
        isBillingRetryPeriod: false,
        isTrialPeriod: false,
      },
      transactions: [
        {
          transactionId: 'store_c:mdr:0:abc:def',
          purchaseId: 'store_c:mdr:0:abc:def',
          productId: 'store_c:9NBLGGH52Q8X',
          offerId: 'store_c:9NBLGGH52Q8X#0024',
          platform: 'store_c',
          sandbox: false,
          purchaseDate: toTime(recurrenceItem.startTime),
          expirationDate,
          isTrialPeriod: false,
          storefront: 'US',
        },
      ],
      userAliases: ['user-1'],
      refreshToken: {
        productId: '9NBLGGH52Q8X',
        purchaseKey: 'key',
        expirationTime: new Date(expirationDate).toISOString(),
      },
    });
  });

  it.each([
    [null, undefined],
    ['0001-01-01T00:00:00', undefined],
    ['not a date', undefined],
    ['2027-02-10T00:00:00', toTime('2027-02-10T00:00:00Z')],
  ])('parses the date %s', (cancellationDate, expected) => {
    expect(mapPurchase({ cancellationDate, autoRenew: false }).renewalIntentChangeDate).toBe(expected);
  });

  it('maps a sandbox purchase', () => {
    expect(mapPurchase({}, { sandbox: true }).sandbox).toBe(true);
  });

  it('returns the aliases of the StoreID key and of the item', () => {
    expect(mapRecurrence({}, { userId: 'user-2' }).userAliases).toEqual(['user-2', 'user-1']);
    expect(mapRecurrence({ beneficiary: null }).userAliases).toEqual([]);
  });

  it('uses the reported price, and zero for a trial', () => {
    const reportedAmount = { amountMicros: 990_000, currency: 'USD' };
    const amount = (changes: object) => mapRecurrence(changes, { reportedAmount }).transactions[0];
    expect(amount({})).toMatchObject({ ...reportedAmount, isReportedAmount: true });
    expect(amount({ isTrial: true })).toMatchObject({ amountMicros: 0, currency: 'USD', isTrialPeriod: true });
  });
});

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

const secondStart = startDate + 31 * dayMs;
const secondEnd = startDate + 59 * dayMs;

const observe = (transactionId: string, expirationDate: number, lastRenewalDate?: number) => {
  const fields: Partial<Purchase> = { purchaseId: 'store_c:1', platform: 'store_c', transactionId, expirationDate };
  const renewal = lastRenewalDate === undefined ? {} : { lastRenewalDate };
  return createObservation({ ...fields, ...renewal });
};

/** The stored state: a subscription in its second period. */
const renewed = observe('store_c:1:second', secondEnd, secondStart);
const storedData = {
  findPurchase: async () => renewed.purchase,
  listTransactions: async () => [
    createTransaction(observe('store_c:1', secondStart).purchase),
    createTransaction(renewed.purchase),
  ],
};

/** Returns the transaction that the store's end of the period is recorded as. */
async function findTransaction(end: number) {
  const { purchase, transactions } = await withKnownPeriod(
    observe('store_c:1:other', end, end - 28 * dayMs),
    storedData,
  );
  expect(transactions.map(({ transactionId }) => transactionId)).toEqual([purchase.transactionId]);
  return { ...transactions[0], lastRenewalDate: purchase.lastRenewalDate };
}

describe('withKnownPeriod (Microsoft Store)', () => {
  it.each([
    ['that the store ends early', secondStart + 9 * dayMs],
    ['that is extended', secondEnd + 9 * dayMs],
  ])('keeps the payment of a renewed period %s', async (_change, end) => {
    expect(await findTransaction(end)).toMatchObject({
      transactionId: renewed.purchase.transactionId,
      purchaseDate: secondStart,
      expirationDate: end,
      lastRenewalDate: secondStart,
    });
  });

  it.each([
    ['a whole period later', secondEnd + 31 * dayMs],
    ['before the stored period', secondStart - 9 * dayMs],
  ])('records another period if it ends %s', async (_change, end) => {
    expect((await findTransaction(end)).transactionId).toBe('store_c:1:other');
  });
});
