import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import {
  buildBeneficiary,
  collectionsHost,
  purchaseHost,
  type StoreCClient,
  startStoreCClient,
} from './store-c-client-app.ts';

let user: StoreCClient;
beforeAll(async () => {
  user = await startStoreCClient();
});
afterAll(() => user.close());

const own = { applicationUsername: 'collector' };

async function query(path: string, purchaseId: string, more: object = {}) {
  return await user.post(collectionsHost, path, {
    beneficiaries: [await buildBeneficiary(user.key, purchaseId)],
    ...more,
  });
}

describe('the collection of a customer', () => {
  let id: string;
  beforeAll(async () => {
    id = (await user.buy({ productId: 'app', type: 'non consumable', ...own })).body.id;
    await user.buy({ productId: 'coins', type: 'consumable', ...own });
    await user.buy({ productId: 'gems', type: 'consumable', quantity: 3, ...own });
    await user.buy({ productId: 'pass', type: 'non renewing subscription', period: 'P1W', ...own });
    await user.buy({ productId: 'monthly', ...own });
    await user.buy({ productId: 'tested', type: 'non consumable', sandbox: true, ...own });
    await user.buy({ productId: 'of another', type: 'non consumable', applicationUsername: 'another' });
  });

  const idsOf = (items: { productId: string }[]): string[] => items.map(({ productId }) => productId);

  test.each([
    ['/v6.0/collections/query', {}, ['app', 'coins', 'gems', 'pass', 'monthly']],
    ['/v6.0/collections/query', { productTypes: ['Consumable'] }, ['gems']],
    ['/v8.0/collections/b2bLicensePreview', { entitlementFilters: ['*:Durable'] }, ['app', 'pass', 'monthly']],
    ['/v8.0/collections/b2bLicensePreview', { sbx: 'XDKS.1' }, ['tested']],
    [
      '/v9.0/collections/PublisherQuery',
      { productSkuIds: [{ productId: 'gems' }, { productId: 'app' }] },
      ['app', 'gems'],
    ],
    ['/v9.0/collections/PublisherQuery', { productSkuIds: [{ productId: 'of another' }] }, []],
  ])('is queried at %s with %j', async (path, more, expected) => {
    const { status, body } = await query(path, id, more);
    expect({ status, products: idsOf(body.items) }).toEqual({ status: 200, products: expected });
  });

  it('comes in pages', async () => {
    const seen: string[] = [];
    let continuationToken: string | undefined;
    do {
      const { body } = await query('/v6.0/collections/query', id, { maxPageSize: 2, continuationToken });
      seen.push(...idsOf(body.items));
      continuationToken = body.continuationToken;
    } while (continuationToken !== undefined);
    expect(seen).toEqual(['app', 'coins', 'gems', 'pass', 'monthly']);
  });

  it('shows what an item is in version 9', async () => {
    const productSkuIds = ['app', 'gems', 'pass', 'monthly'].map((productId) => ({ productId }));
    const { items } = (await query('/v9.0/collections/PublisherQuery', id, { productSkuIds })).body;
    expect(items).toMatchObject([
      { id, productKind: 'Durable', status: 'Active', quantity: 1, endDate: '9999-12-31T23:59:59.9999999+00:00' },
      { productKind: 'Consumable', quantity: 3, acquisitionType: 'Single' },
      { productKind: 'Durable', endDate: '2027-02-07T10:00:00.0000000+00:00' },
      { productKind: 'Durable', acquisitionType: 'Recurring', recurrenceId: expect.stringMatching(/^mdr:0:/) },
    ]);
  });

  it('needs its products in version 9, and one customer in each', async () => {
    const invalid = { status: 400, body: { code: 'BadRequest', innererror: { code: 'InvalidParameter' } } };
    expect(await query('/v9.0/collections/PublisherQuery', id)).toMatchObject(invalid);
    const nobody = { beneficiaries: [], productSkuIds: [{ productId: 'app' }] };
    expect(await query('/v9.0/collections/PublisherQuery', id, nobody)).toMatchObject(invalid);
    expect(await query('/v6.0/collections/query', id, { continuationToken: 'x' })).toMatchObject(invalid);
  });
});

describe('an item', () => {
  it('that ends by itself is expired then', async () => {
    const other = await startStoreCClient();
    const { id } = (await other.buy({ productId: 'week', type: 'non renewing subscription', period: 'P1W' })).body;
    await other.advance('P8D');
    expect((await other.items(id, 'week')).body.items).toMatchObject([{ status: 'Expired' }]);
    expect((await other.items(id, 'week', { validityType: 'Valid' })).body.items).toEqual([]);
    expect((await other.items(id, 'week', { validityType: 'Invalid' })).body.items).toHaveLength(1);
    expect(await other.buy({ productId: 'week', type: 'non renewing subscription' })).toMatchObject({ status: 200 });
    await other.close();
  });

  it('that is refunded is revoked, and shows among the orders', async () => {
    const { id } = (await user.buy({ productId: 'refunded', type: 'non consumable' })).body;
    const orders = async (more: object = {}) =>
      (await user.post(purchaseHost, '/v8.0/b2b/orders/query', { b2bKey: await user.key('purchase', id), ...more }))
        .body.items;
    expect(await orders()).toEqual([]);
    expect(await orders({ lineItemStateFilter: ['Purchased'] })).toHaveLength(1);
    expect(await user.act(id, 'refund')).toMatchObject({ status: 200, body: { state: 'Revoked', notifications: [] } });
    expect((await user.items(id, 'refunded')).body.items).toMatchObject([{ status: 'Revoked' }]);
    expect(await orders()).toMatchObject([
      { orderRefundedDate: expect.any(String), orderLineItems: [{ productId: 'refunded', lineItemState: 'Refunded' }] },
    ]);
    expect(await user.act(id, 'refund')).toMatchObject({ status: 422 });
  });

  it('with an end can be ended before, and one for ever cannot', async () => {
    const { id } = (await user.buy({ productId: 'ended', type: 'non renewing subscription' })).body;
    expect(await user.act(id, 'expire')).toMatchObject({ status: 200, body: { state: 'Expired' } });
    expect(await user.act(id, 'expire')).toMatchObject({ status: 422 });
    const { id: forEver } = (await user.buy({ productId: 'for ever', type: 'non consumable' })).body;
    for (const action of ['expire', 'renew', 'cancel']) {
      expect(await user.act(forEver, action)).toMatchObject({ status: 422 });
    }
    await user.act(forEver, 'refund');
    expect(await user.act(forEver, 'revoke')).toMatchObject({ status: 422 });
  });

  it('in trial says how long that lasts', async () => {
    const { id } = (await user.buy({ productId: 'trial', type: 'non consumable', trial: 'P1W' })).body;
    expect((await user.items(id, 'trial')).body.items).toMatchObject([
      { trialData: { isTrial: true, isInTrialPeriod: true, trialTimeRemaining: '7.00:00:00' } },
    ]);
  });
});

describe('a consumable', () => {
  const consume = async (id: string, productId: string, more: object = {}) =>
    user.post(collectionsHost, '/v8.0/collections/consume', {
      beneficiary: await buildBeneficiary(user.key, id),
      productId,
      trackingId: randomUUID(),
      ...more,
    });

  it('of the developer cannot be bought again before it is fulfilled', async () => {
    const order = { productId: 'lives', type: 'consumable', applicationUsername: 'gamer' };
    const { id } = (await user.buy(order)).body;
    expect(await user.buy(order)).toMatchObject({ status: 422 });
    expect(await consume(id, 'lives', { removeQuantity: 1 })).toMatchObject({ status: 400 });
    expect(await consume(id, 'lives')).toMatchObject({
      status: 200,
      body: { itemId: id, newQuantity: 0, productId: 'lives' },
    });
    expect((await user.items(id, 'lives')).body.items).toEqual([]);
    expect(await consume(id, 'lives')).toMatchObject({ status: 404 });
    expect(await user.buy(order)).toMatchObject({ status: 200 });
  });

  it('of the store has a balance that grows and shrinks, once for each tracking id', async () => {
    const order = { productId: 'points', type: 'consumable', quantity: 5, applicationUsername: 'gamer' };
    const { id } = (await user.buy(order)).body;
    expect((await user.buy(order)).body).toMatchObject({ id, quantity: 10 });
    const request = { removeQuantity: 4, trackingId: randomUUID(), includeOrderIds: true };
    for (const _try of [1, 2]) {
      expect((await consume(id, 'points', request)).body).toMatchObject({
        newQuantity: 6,
        trackingId: request.trackingId,
        orderTransactions: [{ quantityConsumed: 4 }],
      });
    }
    expect(await consume(id, 'points', { removeQuantity: 7 })).toMatchObject({ status: 400 });
    expect((await user.items(id, 'points')).body.items).toMatchObject([{ quantity: 6 }]);
  });

  it('that is used up is refunded all the same', async () => {
    const { id } = (await user.buy({ productId: 'used up', type: 'consumable' })).body;
    await consume(id, 'used up');
    expect(await user.act(id, 'refund')).toMatchObject({ status: 200 });
    const query = { b2bKey: await user.key('purchase', id) };
    const { items } = (await user.post(purchaseHost, '/v8.0/b2b/orders/query', query)).body;
    expect(items).toMatchObject([{ orderLineItems: [{ lineItemState: 'Revoked' }] }]);
  });
});
