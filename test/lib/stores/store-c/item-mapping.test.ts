import { describe, expect, it, test } from '@jest/globals';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import { toItemObservation } from '../../../../lib/stores/store-c/item-observation.ts';
import type { MappingContext } from '../../../../lib/stores/store-c/mapping-context.ts';

const asOf = Date.parse('2027-02-15T00:00:00Z');
const at = (text: string): number => Date.parse(text);

const item = {
  acquiredDate: '2027-01-31T10:00:00.1234567+00:00',
  acquisitionType: 'Single',
  endDate: '9999-12-31T23:59:59.9999999+00:00',
  id: '4b8fbb13127a41f299270ea668681c1d',
  modifiedDate: '2027-02-01T00:00:00+00:00',
  productId: '9NBLGGH5WVP6',
  productKind: 'Durable',
  quantity: 1,
  skuId: '0010',
  startDate: '2027-01-31T10:00:00+00:00',
  status: 'Active',
  transactionId: '4ba5960d-4ec6-4a81-ac20-aafce02ddf31',
  trialData: { isInTrialPeriod: false, isTrial: false, trialTimeRemaining: '00:00:00' },
};

const observe = (changes: object = {}, looking: Partial<MappingContext> = {}) =>
  toItemObservation(
    { ...item, ...changes },
    { asOf, sandbox: false, refreshToken: { productId: 'asked', collectionsKey: 'key' }, ...looking },
  );

const seen = (changes: object) => {
  const purchase = observe(changes)?.purchase;
  return { ...purchase, expired: purchase && isExpired(purchase, asOf) };
};

const purchaseDate = at('2027-01-31T10:00:00.123Z');
const modified = at('2027-02-01T00:00:00Z');

describe('each status of an item', () => {
  test.each<[string, object, object]>([
    ['Active', {}, { expired: false }],
    [
      'Active with an end to come',
      { endDate: '2027-03-01T00:00:00Z' },
      { expired: false, expirationDate: at('2027-03-01') },
    ],
    [
      'Active, but past its end',
      { endDate: '2027-02-10T00:00:00Z' },
      { expired: true, expirationDate: at('2027-02-10') },
    ],
    [
      'Expired',
      { status: 'Expired', endDate: '2027-02-10T00:00:00Z' },
      { expired: true, expirationDate: at('2027-02-10') },
    ],
    ['Expired without a date', { status: 'Expired' }, { expired: true, endedAt: modified }],
    ['Revoked', { status: 'Revoked' }, { expired: true, endedAt: modified, cancelationReason: 'Customer' }],
    ['Banned', { status: 'Banned' }, { expired: true, cancelationReason: 'System' }],
    ['Suspended', { status: 'Suspended' }, { expired: true, cancelationReason: 'System' }],
    ['an unknown one', { status: 'Missing' }, { expired: true, cancelationReason: 'Unknown' }],
    ['one of a Revoked without a date', { status: 'Revoked', modifiedDate: null }, { expired: true, endedAt: asOf }],
  ])('%s', (_status, changes, expected) => {
    expect(seen(changes)).toMatchObject(expected);
  });

  it('Expired needs no reason, nor does Active', () => {
    for (const status of ['Active', 'Expired']) expect(seen({ status })).not.toHaveProperty('cancelationReason');
  });

  it('Revoked means that the money went back', () => {
    expect(observe({ status: 'Revoked' })?.transactions).toMatchObject([{ refundedAt: modified }]);
    expect(observe({ status: 'Banned' })?.transactions[0]).not.toHaveProperty('refundedAt');
  });
});

describe('each field of an item', () => {
  it('comes from the item', () => {
    expect(observe({}, { userId: 'user-1' })).toEqual({
      asOf,
      purchase: {
        purchaseId: 'store_c:4b8fbb13127a41f299270ea668681c1d',
        transactionId: 'store_c:4ba5960d-4ec6-4a81-ac20-aafce02ddf31',
        productId: 'store_c:9NBLGGH5WVP6',
        offerId: 'store_c:9NBLGGH5WVP6#0010',
        platform: 'store_c',
        productType: 'non consumable',
        sandbox: false,
        purchaseDate,
        isTrialPeriod: false,
        quantity: 1,
      },
      transactions: [
        {
          transactionId: 'store_c:4ba5960d-4ec6-4a81-ac20-aafce02ddf31',
          purchaseId: 'store_c:4b8fbb13127a41f299270ea668681c1d',
          productId: 'store_c:9NBLGGH5WVP6',
          offerId: 'store_c:9NBLGGH5WVP6#0010',
          platform: 'store_c',
          sandbox: false,
          purchaseDate,
          isTrialPeriod: false,
        },
      ],
      userTokens: ['user-1'],
      refreshToken: { productId: '9NBLGGH5WVP6', collectionsKey: 'key' },
    });
  });

  it.each([
    ['version 6', { id: undefined, itemId: item.id }],
    ['hyphens', { id: '4B8FBB13-127A-41F2-9927-0EA668681C1D'.toLowerCase() }],
  ])('has one id in every way of writing it: %s', (_way, changes) => {
    expect(observe(changes)?.purchase.purchaseId).toBe('store_c:4b8fbb13127a41f299270ea668681c1d');
  });

  it('is nothing without an id', () => {
    expect(observe({ id: null })).toBeUndefined();
  });

  it.each([
    ['Durable', {}, 'non consumable', undefined],
    ['Durable', { endDate: '2027-03-01T00:00:00Z' }, 'non renewing subscription', undefined],
    ['Durable', { recurrenceId: 'mdr:0:abc' }, 'paid subscription', undefined],
    ['Pass', {}, 'paid subscription', undefined],
    ['Application', {}, 'non consumable', undefined],
    ['UnmanagedConsumable', {}, 'consumable', false],
    ['Consumable', { quantity: 2 }, 'consumable', false],
    ['Consumable', { quantity: 0 }, 'consumable', true],
    ['Consumable', { quantity: null }, 'consumable', undefined],
  ])('tells what a %s with %j is', (productKind, changes, productType, isConsumed) => {
    for (const kind of [{ productKind }, { productKind: null, productType: productKind }]) {
      const { purchase } = observe({ ...kind, ...changes }) ?? {};
      expect({ productType: purchase?.productType, isConsumed: purchase?.isConsumed }).toEqual({
        productType,
        isConsumed,
      });
    }
  });

  it('names its purchase where the store names no transaction', () => {
    for (const transactionId of [null, '', '00000000-0000-0000-0000-000000000000']) {
      expect(observe({ transactionId })?.purchase.transactionId).toBe(`store_c:${item.id}`);
    }
  });

  it('is in trial while the store says so, and free then', () => {
    const reportedAmount = { amountMicros: 990_000, currency: 'USD' };
    const trial = observe({ trialData: { isInTrialPeriod: true } }, { reportedAmount });
    expect(trial).toMatchObject({ purchase: { isTrialPeriod: true }, transactions: [{ amountMicros: 0 }] });
    expect(observe({}, { reportedAmount })?.transactions).toMatchObject([
      { ...reportedAmount, isReportedAmount: true },
    ]);
    expect(observe({ trialData: null })?.purchase).not.toHaveProperty('isTrialPeriod');
  });

  it.each([
    'renewalIntent',
    'isIntroPeriod',
    'discountId',
    'priceConsentStatus',
    'isPending',
    'isAcknowledged',
    'isSharedPurchase',
    'isPaused',
    'amountMicros',
    'currency',
  ])('says nothing of %s', (field) => {
    for (const acquisitionType of ['Single', 'Recurring', 'Conditional']) {
      expect(observe({ acquisitionType })?.purchase).not.toHaveProperty(field);
    }
  });
});
