import { describe, expect, it, test } from '@jest/globals';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import type { MappingContext } from '../../../../lib/stores/store-c/mapping-context.ts';
import { toRecurrenceObservation } from '../../../../lib/stores/store-c/recurrence-observation.ts';

const asOf = Date.parse('2027-02-15T00:00:00Z');
const at = (text: string): number => Date.parse(text);

const item = {
  autoRenew: true,
  beneficiary: 'pub:user-1',
  expirationTime: '2027-02-28T10:00:00.1234567+00:00',
  expirationTimeWithGrace: '2027-03-14T10:00:00+00:00',
  id: 'mdr:0:abc:def',
  isTrial: false,
  lastModified: '2027-02-01T00:00:00+00:00',
  market: 'US',
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

const seen = (changes: object = {}, looking: Partial<MappingContext> = {}) => {
  const { purchase } = observe(changes, looking);
  return { ...purchase, expired: isExpired(purchase, looking.asOf ?? asOf) };
};

const expirationDate = at('2027-02-28T10:00:00.123Z');
const graceEnd = at('2027-03-14T10:00:00Z');

describe('each state of a subscription', () => {
  const past = { asOf: at('2027-03-01T00:00:00Z') };
  test.each<[string, object, Partial<MappingContext>, object]>([
    ['Active', {}, {}, { expired: false, renewalIntent: 'Renew', isBillingRetryPeriod: false, expirationDate }],
    ['Active without renewal', { autoRenew: false }, {}, { expired: false, renewalIntent: 'Lapse', expirationDate }],
    ['Active, but late', {}, past, { expired: false, expirationDate: graceEnd, isBillingRetryPeriod: true }],
    [
      'Active, but late without grace',
      { expirationTimeWithGrace: item.expirationTime },
      past,
      { expired: true, expirationDate, isBillingRetryPeriod: false },
    ],
    ['Active without renewal, but late', { autoRenew: false }, past, { expired: true, expirationDate }],
    [
      'InDunning',
      { recurrenceState: 'InDunning' },
      past,
      { expired: false, expirationDate: graceEnd, isBillingRetryPeriod: true, renewalIntent: 'Renew' },
    ],
    [
      'InDunning, but late',
      { recurrenceState: 'InDunning' },
      { asOf: graceEnd },
      { expired: true, expirationDate: graceEnd },
    ],
    [
      'Inactive',
      { recurrenceState: 'Inactive', autoRenew: false },
      past,
      { expired: true, cancelationReason: 'Customer', renewalIntent: 'Lapse', expirationDate },
    ],
    [
      'Inactive before its date',
      { recurrenceState: 'Inactive', autoRenew: false },
      {},
      { expired: true, endedAt: at('2027-02-01T00:00:00Z') },
    ],
    [
      'Canceled',
      { recurrenceState: 'Canceled', cancellationDate: '2027-02-10T00:00:00+00:00' },
      {},
      {
        expired: true,
        cancelationReason: 'Unknown',
        renewalIntent: 'Lapse',
        endedAt: at('2027-02-10T00:00:00Z'),
        renewalIntentChangeDate: at('2027-02-10T00:00:00Z'),
      },
    ],
    [
      'Failed',
      { recurrenceState: 'Failed' },
      past,
      { expired: true, cancelationReason: 'System.BillingError', renewalIntent: 'Lapse', expirationDate },
    ],
    ['Revoked', { recurrenceState: 'Revoked' }, {}, { expired: true, cancelationReason: 'Customer' }],
    ['an unknown one', { recurrenceState: 'Dormant' }, {}, { expired: false, expirationDate }],
  ])('%s', (_state, changes, looking, expected) => {
    expect(seen(changes, looking)).toMatchObject(expected);
  });

  it('None lasts for ever, whatever date stands beside it', () => {
    const perpetual = seen({ recurrenceState: 'None' });
    expect(perpetual).toMatchObject({ expired: false, transactionId: 'store_c:mdr:0:abc:def' });
    expect(perpetual).not.toHaveProperty('expirationDate');
  });

  it('tells no reason while the subscription runs', () => {
    for (const recurrenceState of ['Active', 'InDunning', 'None']) {
      expect(seen({ recurrenceState })).not.toHaveProperty('cancelationReason');
      expect(seen({ recurrenceState })).not.toHaveProperty('endedAt');
    }
  });

  it('refunds the latest payment only where the store says that it was', () => {
    const refundedAt = (recurrenceState: string) => observe({ recurrenceState }).transactions[0]?.refundedAt;
    expect(refundedAt('Revoked')).toBe(at(item.lastModified));
    for (const state of ['Active', 'Inactive', 'Canceled', 'InDunning', 'Failed']) {
      expect(refundedAt(state)).toBeUndefined();
    }
  });
});

describe('each field of a subscription', () => {
  it('comes from the item', () => {
    expect(observe()).toEqual({
      asOf,
      purchase: {
        purchaseId: 'store_c:mdr:0:abc:def',
        transactionId: 'store_c:mdr:0:abc:def',
        productId: 'store_c:9NBLGGH52Q8X',
        offerId: 'store_c:9NBLGGH52Q8X#0024',
        platform: 'store_c',
        productType: 'paid subscription',
        sandbox: false,
        purchaseDate: at(item.startTime),
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
          purchaseDate: at(item.startTime),
          expirationDate,
          isTrialPeriod: false,
        },
      ],
      userTokens: ['user-1'],
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
    ['2027-02-10T00:00:00', at('2027-02-10T00:00:00Z')],
  ])('is absent where .NET writes an unset date: %s', (cancellationDate, expected) => {
    expect(seen({ cancellationDate }).renewalIntentChangeDate).toBe(expected);
  });

  it('is marked with the sandbox that it was asked for in', () => {
    expect(seen({}, { sandbox: true }).sandbox).toBe(true);
  });

  it('keeps both names of the user, the one in the key and the one in the item', () => {
    expect(observe({}, { userId: 'user-2' }).userAliases).toEqual(['user-2', 'user-1']);
    expect(observe({ beneficiary: null }).userAliases).toEqual([]);
  });

  it('has the price that the client told, and none in a trial', () => {
    const reportedAmount = { amountMicros: 990_000, currency: 'USD' };
    const amount = (changes: object) => observe(changes, { reportedAmount }).transactions[0];
    expect(amount({})).toMatchObject({ ...reportedAmount, isReportedAmount: true });
    expect(amount({ isTrial: true })).toMatchObject({ amountMicros: 0, currency: 'USD', isTrialPeriod: true });
  });
});
