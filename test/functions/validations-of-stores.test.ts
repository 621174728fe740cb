import { afterEach, describe, expect, it } from '@jest/globals';
import { storeCatalogue } from '../../lib/apps/catalogue-table.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerTransactions } from '../../lib/customers/contract.ts';
import { getEventRaw, searchEvents } from '../../lib/events/contract.ts';
import { addBillingPeriods } from '../../lib/foundation/billing-period.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { type Platform, withPlatform } from '../../lib/foundation/platform.ts';
import { getPurchase, listPurchases } from '../../lib/purchases/contract.ts';
import { findPurchase } from '../../lib/purchases/purchase-table.ts';
import { findTransaction } from '../../lib/purchases/transaction-table.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { buildBasicAuth, callEndpoint, callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { findEvents } from './event-fixture.ts';

const service = startBeforeAll(startTestService);
afterEach(() => service.clearFaults());

/** Buys a subscription and returns its `validate` body with the products of the app. */
async function givenOffer(platform: Platform, productId: string, terms: object) {
  const keys = await service.createApp([platform]);
  const order = {
    platform,
    productId,
    type: 'paid subscription',
    applicationUsername: createUniqueName('user'),
    ...terms,
  };
  const { id, validate } = await service.callControl('/purchases', order);
  const group = 'group' in terms ? terms.group : 'plans';
  const products = [
    { id: productId, type: 'paid subscription', group, offers: [] },
    { id: 'same group', type: 'paid subscription', offers: [{ id: 'offer', productGroup: group }] },
    { id: 'other group', type: 'paid subscription', group: 'another' },
    { id: 'no group', type: 'consumable' },
    { group },
    null,
  ];
  const validateIntro = async (changes: object = {}): Promise<string[]> => {
    const { body } = await service.validate(keys, { ...validate, products, ...changes });
    if (!body.ok) throw new Error(body.message);
    return body.data.ineligible_for_intro_price.toSorted();
  };
  return { id, validate, validateIntro };
}

/** The processors sell the products of the emulator's settings only. */
function chooseProductId(platform: Platform): string {
  if (platform === 'processor_a') return 'basic';
  return platform === 'processor_b' ? 'monthly' : createUniqueName('plan');
}

describe('ineligible_for_intro_price', () => {
  it.each([
    ['store_a', 'trial', { trial: true }],
    ['store_a', 'introductory price', { intro: true }],
    ['store_b', 'trial', { trial: true }],
    ['processor_a', 'trial', { trial: true }],
    ['processor_b', 'trial', { trial: true }],
  ] as const)('contains the subscription group of a used offer (%s, %s)', async (platform, _offer, terms) => {
    const productId = chooseProductId(platform);
    const group = { ...(platform === 'store_a' && { group: createUniqueName('group') }) };
    const { validateIntro } = await givenOffer(platform, productId, { ...terms, ...group });
    expect(await validateIntro()).toEqual([productId, 'same group'].toSorted());
  });

  it.each(['store_a', 'store_b', 'processor_a'] as const)(
    'returns no product without a used offer (%s)',
    async (platform) => {
      const { validateIntro } = await givenOffer(platform, chooseProductId(platform), {});
      expect(await validateIntro()).toEqual([]);
    },
  );

  it.each(['store_a', 'store_b', 'processor_a', 'processor_b'] as const)(
    'keeps the group after the trial and while the store is unavailable (%s)',
    async (platform) => {
      const productId = chooseProductId(platform);
      const group = { ...(platform === 'store_a' && { group: createUniqueName('group') }) };
      const { id, validateIntro } = await givenOffer(platform, productId, { trial: true, ...group });
      const expected = [productId, 'same group'].toSorted();
      expect(await validateIntro()).toEqual(expected);
      await service.callControl(`/purchases/${id}/renew`, {});
      await service.callControl('/clock', { advance: 'PT1H' });
      expect(await validateIntro()).toEqual(expected);
      await service.callControl('/clock', { advance: 'PT1H' });
      await service.callControl('/faults', { platform, fault: 'down', times: 100 });
      expect(await validateIntro()).toEqual(expected);
    },
  );
});

/** A product for each store whose customers enter an address. */
const subscriptions = {
  store_c: '9NBLGGH5CNTRY',
  processor_a: 'country_plan',
  service_processor_a: 'country_plan',
  processor_b: 'monthly',
} as const satisfies Partial<Record<Platform, string>>;

/** Validates a purchase of a customer in Germany and returns the country of its transaction. */
async function readCountry(platform: Platform, order: object, actions: readonly string[] = []) {
  const keys = await service.createApp([platform]);
  const customer = { applicationUsername: createUniqueName('user'), country: 'DE' };
  const { id } = await service.callControl('/purchases', { platform, ...customer, ...order });
  const { validate } = await service.callControl(`/purchases/${id}`);
  const { body } = await service.validate(keys, validate);
  const purchaseId = withPlatform(platform, body.data.collection[0].purchaseId);
  for (const action of actions) {
    await service.callControl(`/purchases/${id}/${action}`, {});
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
  }
  const purchase = await findPurchase(getService(), keys.appName, purchaseId);
  const transaction = await findTransaction(getService(), keys.appName, purchase?.purchase.transactionId ?? '');
  return transaction?.storefront;
}

describe('country of a payment', () => {
  it.each(Object.entries(subscriptions))(
    'equals the country of the customer of %s, also for a renewal',
    async (platform, id) => {
      const order = { productId: id, type: 'paid subscription' };
      expect(await readCountry(platform as Platform, order)).toBe('DE');
      expect(await readCountry(platform as Platform, order, ['renew'])).toBe('DE');
    },
  );

  it.each([
    ['processor_a', 'country_coins'],
    ['service_processor_a', 'country_coins'],
    ['processor_b', 'coins'],
  ] as const)('equals the country of the customer for a one-time purchase of %s', async (platform, productId) => {
    expect(await readCountry(platform, { productId, type: 'consumable' })).toBe('DE');
  });
});

const season = { type: 'non renewing subscription', period: 'P3M' };

/** Buys a product and returns a function that validates it with a stated billing period. */
async function buy(platform: Platform, keys: IssuedApiKeys, order: object) {
  const { validate } = await service.callControl('/purchases', {
    platform,
    productId: createUniqueName('product'),
    form: platform === 'store_a' ? 'product' : undefined,
    ...order,
  });
  const { billingPeriod: _period, billingPeriodUnit: _unit, ...request } = validate;
  return async (statement: object = {}) => {
    const { body } = await service.validate(keys, { ...request, ...statement });
    const [purchase] = body.data?.collection ?? [];
    return { body, ...purchase };
  };
}

const years = (billingPeriod: number) => ({ billingPeriod, billingPeriodUnit: 'Year' });
const months = (billingPeriod: number) => ({ billingPeriod, billingPeriodUnit: 'Month' });

describe('end of a subscription whose store does not report it', () => {
  it('stays within a year of a signed Play receipt, even after a later request', async () => {
    const keys = await service.createApp(['store_b'], { serviceAccount: undefined });
    const validate = await buy('store_b', keys, { type: 'paid subscription' });
    const first = await validate(years(500));
    expect(first.expiryDate).toBe(addBillingPeriods(first.purchaseDate, 'P1Y'));
    expect((await validate(years(1000))).expiryDate).toBe(first.expiryDate);
  });

  it.each<Platform>(['store_a', 'store_b', 'processor_a', 'service_processor_a'])(
    'follows a request of %s, and lies within a year without one',
    async (platform) => {
      const keys = await service.createApp([platform]);
      const stated = await (await buy(platform, keys, season))(months(2));
      expect(stated.expiryDate).toBe(addBillingPeriods(stated.purchaseDate, 'P2M'));
      const validate = await buy(platform, keys, season);
      const unstated = await validate();
      expect(unstated.expiryDate).toBe(addBillingPeriods(unstated.purchaseDate, 'P1Y'));
      // The first statement fills the gap.
      const { expiryDate } = await validate(months(1));
      expect(expiryDate).toBe(addBillingPeriods(unstated.purchaseDate, 'P1M'));
      expect((await validate(years(1))).expiryDate).toBe(expiryDate);
    },
  );

  it('follows a request of Braintree, which sells products of its catalogue only', async () => {
    const order = { platform: 'processor_b', productId: createUniqueName('product'), ...season };
    const { validate } = await service.callControl('/purchases', order);
    const keys = await service.createApp(['processor_b']);
    const { body } = await service.validate(keys, { ...validate, ...months(2) });
    const [purchase] = body.data.collection;
    expect(purchase.expiryDate).toBe(addBillingPeriods(purchase.purchaseDate, 'P2M'));
  });

  it('comes from the catalogue, whatever a request states', async () => {
    const keys = await service.createApp(['store_a']);
    const productId = createUniqueName('product');
    const catalogue = { [productId]: { type: 'non renewing subscription' as const, billingPeriod: 'P2Y' } };
    await storeCatalogue(getService(), keys.appName, catalogue);
    const validate = await buy('store_a', keys, { ...season, productId });
    const { purchaseDate, expiryDate, purchaseId } = await validate(months(1));
    expect(expiryDate).toBe(addBillingPeriods(purchaseDate, 'P2Y'));
    const { body } = await callWithSecretKey(getPurchase, keys, { params: { purchaseId: `store_a:${purchaseId}` } });
    expect(Math.floor(Date.parse(body.expirationDate) / 1000)).toBe(Math.floor(expiryDate / 1000));
  });
});

const accounts = ['processor_a', 'service_processor_a'] as const;

describe('validateReceipt with both accounts of Stripe', () => {
  for (const sold of accounts) {
    it.each(accounts)(
      `returns ConnectionFailed or the purchase of ${sold} while %s is unavailable`,
      async (platform) => {
        const keys = await service.createApp([...accounts]);
        const { validate } = await service.callControl('/purchases', {
          platform: sold,
          productId: createUniqueName('product'),
          type: 'paid subscription',
          applicationUsername: createUniqueName('user'),
        });
        await service.callControl('/faults', { platform, fault: 'down', times: 50 });
        const { body } = await service.validate(keys, validate);
        const isOwned = sold === 'processor_a' && platform === 'service_processor_a';
        expect(body).toMatchObject(isOwned ? { ok: true } : { ok: false, code: 6778002 });
      },
    );
  }

  it('rejects a receipt that neither Stripe account has', async () => {
    const keys = await service.createApp([...accounts]);
    const transaction = { type: 'processor_a-charge', id: 'ch_unknown' };
    const { body } = await service.validate(keys, { id: 'premium', type: 'paid subscription', transaction });
    expect(body).toMatchObject({ ok: false, code: 6778001, message: 'The id is not found at Stripe.' });
  });
});

/** An app with signed receipts of Google Play, whose prices the client reports. */
const createAppOfReceipts = async () => await service.createApp(['store_a', 'store_b'], { serviceAccount: undefined });

it.each(['1e400', '-1e400', '9007199254740993', '12345678901234567890', '1e-200', '5e-324'])(
  'validateReceipt records an event for a product price of %s',
  async (number) => {
    const keys = await createAppOfReceipts();
    const user = createUniqueName('user');
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername: user };
    const { validate } = await service.callControl('/purchases', order);
    const offers = [{ id: 'monthly', pricingPhases: [{ priceMicros: 'NUMBER', currency: 'USD' }] }];
    const sent = JSON.stringify({ ...validate, products: [{ id: 'premium', type: 'paid subscription', offers }] });
    const body = sent.replace('"NUMBER"', number);
    const { body: result } = await callEndpoint(validateReceipt, {
      headers: buildBasicAuth(keys.appName, keys.publicKey),
      body,
    });
    expect(result.ok).toBe(true);
    const { body: found } = await callEndpoint(searchEvents, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params: { tag: user },
    });
    expect(found.rows).toHaveLength(1);
  },
);

it.each<[unknown, number | null]>([
  [4_990_000, 4_990_000],
  ['4990000', 4_990_000],
  [1_100_000.000_000_1, 1_100_000],
  [-5_000_000_000, null],
  [1e300, null],
  ['1e400', null],
])('validateReceipt converts a reported price of %j to the amount %j', async (priceMicros, amountMicros) => {
  const keys = await createAppOfReceipts();
  const user = createUniqueName('user');
  const order = {
    platform: 'store_b',
    productId: createUniqueName('gold'),
    type: 'consumable',
    applicationUsername: user,
  };
  const { validate } = await service.callControl('/purchases', order);
  const { body } = await service.validate(keys, { ...validate, priceMicros, currency: 'USD' });
  expect(body.ok).toBe(true);
  const params = { applicationUsername: user };
  const { body: paid } = await callEndpoint(getCustomerTransactions, {
    headers: buildBasicAuth(keys.appName, keys.secretKey),
    params,
  });
  expect(paid.transactions).toMatchObject([{ amountMicros }]);
});

/** Validates a subscription of Google Play. */
async function givenSubscription() {
  const keys = await service.createApp(['store_b']);
  const order = { platform: 'store_b', productId: createUniqueName('product'), type: 'paid subscription' };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  return { keys, purchaseId: `store_b:${id}` };
}

describe('event of a refresh', () => {
  it('contains the purchase in its raw view', async () => {
    const { keys, purchaseId } = await givenSubscription();
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const [{ eventId }] = await findEvents(keys, purchaseId);
    const { body } = await callWithSecretKey(getEventRaw, keys, { params: { id: eventId } });
    expect(body).toMatchObject({ type: 'receipt.refreshed', request: { route: 'refresh', params: { purchaseId } } });
    expect(JSON.stringify(body.request)).not.toContain('[removed]');
  });
});

describe('GET /v3/purchases', () => {
  it('reports whether the store can be queried for a purchase again', async () => {
    const { keys } = await givenSubscription();
    const { body } = await callWithSecretKey(listPurchases, keys, {});
    expect(body.rows).toMatchObject([{ canRefresh: true }]);
  });
});
