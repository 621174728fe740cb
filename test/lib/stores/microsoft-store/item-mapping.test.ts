import { beforeAll, describe, expect, it } from '@jest/globals';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import { toItemObservation } from '../../../../lib/stores/microsoft-store/item-observation.ts';
import type { MappingContext } from '../../../../lib/stores/microsoft-store/mapping-context.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { toNotificationReason } from '../../../../lib/stores/microsoft-store/notification-reason.ts';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { createContext, createFetch, startMicrosoft } from './fake-microsoft.ts';

const asOf = Date.parse('2027-02-15T00:00:00Z');
const toTime = (text: string): number => Date.parse(text);

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

const map = (changes: object = {}, context: Partial<MappingContext> = {}) =>
  toItemObservation(
    { ...item, ...changes },
    { asOf, sandbox: false, refreshToken: { productId: 'requested', collectionsKey: 'key' }, ...context },
  );

const mapPurchase = (changes: object) => {
  const purchase = map(changes)?.purchase;
  return { ...purchase, expired: purchase && isExpired(purchase, asOf) };
};

const purchaseDate = toTime('2027-01-31T10:00:00.123Z');
const modified = toTime('2027-02-01T00:00:00Z');

describe('toItemObservation (Microsoft Store) of each status', () => {
  it.each<[string, object, object]>([
    ['Active', {}, { expired: false }],
    [
      'Active, before its end',
      { endDate: '2027-03-01T00:00:00Z' },
      { expired: false, expirationDate: toTime('2027-03-01') },
    ],
    [
      'Active, after its end',
      { endDate: '2027-02-10T00:00:00Z' },
      { expired: true, expirationDate: toTime('2027-02-10') },
    ],
    [
      'Expired',
      { status: 'Expired', endDate: '2027-02-10T00:00:00Z' },
      { expired: true, expirationDate: toTime('2027-02-10') },
    ],
    ['Expired without a date', { status: 'Expired' }, { expired: true, endedAt: modified }],
    ['Revoked', { status: 'Revoked' }, { expired: true, endedAt: modified, cancelationReason: 'Customer' }],
    ['Banned', { status: 'Banned' }, { expired: true, cancelationReason: 'System' }],
    ['Suspended', { status: 'Suspended' }, { expired: true, cancelationReason: 'System' }],
    ['an unknown status', { status: 'Missing' }, { expired: true, cancelationReason: 'Unknown' }],
    ['Revoked without a date', { status: 'Revoked', modifiedDate: null }, { expired: true, endedAt: asOf }],
  ])('maps %s', (_status, changes, expected) => {
    expect(mapPurchase(changes)).toMatchObject(expected);
  });

  it('sets no cancelation reason for Active and Expired', () => {
    for (const status of ['Active', 'Expired']) expect(mapPurchase({ status })).not.toHaveProperty('cancelationReason');
  });

  it.each(['Revoked', 'Banned'])('sets no refund date for %s', (status) => {
    expect(map({ status })?.transactions[0]).not.toHaveProperty('refundedAt');
  });
});

describe('toItemObservation (Microsoft Store)', () => {
  it('maps all fields', () => {
    expect(map({}, { userId: 'user-1' })).toEqual({
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
      userAliases: ['user-1'],
      refreshToken: {
        productId: '9NBLGGH5WVP6',
        purchaseId: 'store_c:4b8fbb13127a41f299270ea668681c1d',
        collectionsKey: 'key',
      },
    });
  });

  it.each([
    ['version 6', { id: undefined, itemId: item.id }],
    ['hyphens', { id: '4B8FBB13-127A-41F2-9927-0EA668681C1D'.toLowerCase() }],
  ])('normalizes the id of %s', (_format, changes) => {
    expect(map(changes)?.purchase.purchaseId).toBe('store_c:4b8fbb13127a41f299270ea668681c1d');
  });

  it('returns undefined without an id', () => {
    expect(map({ id: null })).toBeUndefined();
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
  ])('maps the kind %s with %j', (productKind, changes, productType, isConsumed) => {
    for (const kind of [{ productKind }, { productKind: null, productType: productKind }]) {
      const { purchase } = map({ ...kind, ...changes }) ?? {};
      expect({ productType: purchase?.productType, isConsumed: purchase?.isConsumed }).toEqual({
        productType,
        isConsumed,
      });
    }
  });

  it('uses the purchase id if the transaction id is missing', () => {
    for (const transactionId of [null, '', '00000000-0000-0000-0000-000000000000']) {
      expect(map({ transactionId })?.purchase.transactionId).toBe(`store_c:${item.id}`);
    }
  });

  it('sets a zero amount for a trial', () => {
    const reportedAmount = { amountMicros: 990_000, currency: 'USD' };
    const trial = map({ trialData: { isInTrialPeriod: true } }, { reportedAmount });
    expect(trial).toMatchObject({ purchase: { isTrialPeriod: true }, transactions: [{ amountMicros: 0 }] });
    expect(map({}, { reportedAmount })?.transactions).toMatchObject([{ ...reportedAmount, isReportedAmount: true }]);
    expect(map({ trialData: null })?.purchase).not.toHaveProperty('isTrialPeriod');
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
  ])('omits %s', (field) => {
    for (const acquisitionType of ['Single', 'Recurring', 'Conditional']) {
      expect(map({ acquisitionType })?.purchase).not.toHaveProperty(field);
    }
  });
});

describe('toItemObservation (Microsoft Store) of an item that another product includes', () => {
  const reportedAmount = { amountMicros: 9_990_000, currency: 'USD' };
  const getAmounts = (changes: object) =>
    map(changes, { reportedAmount })?.transactions.map(({ amountMicros, currency }) => [amountMicros, currency]);

  it('earns nothing: the customer has paid for the bundle or the subscription', () => {
    expect(getAmounts({ satisfiedByProductIds: ['9NBLGGH5L00B'] })).toEqual([[0, 'USD']]);
  });

  it.each([{}, { satisfiedByProductIds: [] }, { satisfiedByProductIds: ['9nblggh5wvp6'] }])(
    'reports the price without another product: %j',
    (changes) => {
      expect(getAmounts(changes)).toEqual([[9_990_000, 'USD']]);
    },
  );
});

const microsoft = startBeforeAll(startMicrosoft);
let body: ValidationRequest;
beforeAll(async () => {
  body = (await microsoft.createPurchase({ productId: 'requested' })).body;
});

const createSubscription = (id: string, startDate: string, expirationDate: string, changes: object = {}) => ({
  id,
  productId: 'requested',
  recurrenceState: 'Active',
  autoRenew: false,
  startTime: `${startDate}T00:00:00Z`,
  expirationTime: `${expirationDate}T00:00:00Z`,
  ...changes,
});

/** Validates against a service that returns these pages of subscriptions. */
async function validatePages(...pages: object[][]) {
  const queries: Record<string, unknown>[] = [];
  const fetch = createFetch((_url, init) => {
    queries.push(JSON.parse(init.body ?? ''));
    const items = pages[queries.length - 1] ?? [];
    const continuationToken = queries.length < pages.length ? `page ${queries.length}` : null;
    return { text: JSON.stringify({ items, continuationToken }) };
  });
  const { sandboxId: _sandboxId, ...settings } = microsoft.settings('store_c');
  return { queries, ...(await microsoftStore.validate(body, createContext(fetch, settings))) };
}

describe('validate (Microsoft Store) of a product with several purchases', () => {
  it('chooses the active purchase', async () => {
    const active = createSubscription('active', '2026-01-01', '2027-12-31');
    const expired = createSubscription('expired', '2027-01-01', '2027-01-30');
    expect(await validatePages([active, expired])).toMatchObject({
      purchaseId: 'store_c:active',
      nativeTransaction: { id: 'active' },
    });
    expect(await validatePages([expired, active])).toMatchObject({ purchaseId: 'store_c:active' });
  });

  it('chooses the latest purchase if all are expired', async () => {
    const older = createSubscription('older', '2026-01-01', '2026-01-31');
    const newer = createSubscription('newer', '2026-03-01', '2026-03-31');
    for (const items of [
      [older, newer],
      [newer, older],
    ]) {
      const { purchaseId, observations } = await validatePages(items);
      expect({ purchaseId, count: observations.length }).toEqual({ purchaseId: 'store_c:newer', count: 2 });
    }
  });

  it("ignores the publisher's other products, which can belong to another app", async () => {
    const foreign = createSubscription('foreign', '2026-01-01', '2027-12-31', { productId: 'another' });
    const own = createSubscription('own', '2026-01-01', '2027-12-31', { productId: 'REQUESTED' });
    const { observations } = await validatePages([foreign, own]);
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_c:own']);
  });

  it('does not rely on a part of the pages', async () => {
    const last = createSubscription('last', '2026-03-01', '2027-12-31');
    const pages = (count: number) => [...Array.from({ length: count }, () => []), [last]];
    expect((await validatePages(...pages(40))).purchaseId).toBe('store_c:last');
    await expect(validatePages(...pages(120))).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('reads all pages', async () => {
    const first = createSubscription('first', '2026-01-01', '2026-01-31');
    const second = createSubscription('second', '2026-03-01', '2027-12-31');
    const { queries, observations } = await validatePages([first], [], [second]);
    expect(observations).toHaveLength(2);
    expect(queries.map(({ continuationToken }) => continuationToken)).toEqual([undefined, 'page 1', 'page 2']);
  });
});

describe('validate (Microsoft Store) with an expired StoreID key', () => {
  it('sends no query with it and ignores it if it is not needed', async () => {
    const other = await startMicrosoft();
    const { id } = await other.createPurchase({ autoRenew: true });
    const { license: expired = {} } = await other.getRequest(id, 'both');
    await other.advance('P31D');
    const request = await other.getRequest(id, 'both');
    await expect(other.validate({ ...request, license: expired })).rejects.toMatchObject({ code: 'NeedMoreData' });
    expect(other.calls.map(({ url }) => new URL(url).host)).toEqual(['login.microsoftonline.com']);
    const license = { ...request.license, storeIdKey_collections: expired.storeIdKey_collections ?? '' };
    expect(await other.validate({ ...request, license })).toMatchObject({ purchaseId: `store_c:${id}` });
    await other.close();
  });
});

describe('toNotificationReason (Microsoft Store)', () => {
  it.each([
    ['Revoked', 'REFUNDED'],
    ['Returned', 'REFUNDED'],
    ['Refunded', 'REFUNDED'],
    ['ChargebackReversal', 'OTHER'],
    ['A state of next year', 'OTHER'],
    ['constructor', 'OTHER'],
  ])('converts the clawback state %s to %s', (state, reason) => {
    expect(toNotificationReason(state)).toBe(reason);
  });
});
