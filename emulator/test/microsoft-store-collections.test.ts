import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import {
  buildBeneficiary,
  collectionsHost,
  type MicrosoftStoreClient,
  purchaseHost,
  startMicrosoftStoreClient,
} from './microsoft-store-client-app.ts';

let client: MicrosoftStoreClient;
beforeAll(async () => {
  client = await startMicrosoftStoreClient();
});
afterAll(() => client.close());

const own = { applicationUsername: 'collector' };

async function query(path: string, purchaseId: string, more: object = {}) {
  return await client.post(collectionsHost, path, {
    beneficiaries: [await buildBeneficiary(client.key, purchaseId)],
    ...more,
  });
}

describe('collection of a customer (Microsoft Store)', () => {
  let id: string;
  beforeAll(async () => {
    id = (await client.buy({ productId: 'app', type: 'non consumable', ...own })).body.id;
    await client.buy({ productId: 'coins', type: 'consumable', ...own });
    await client.buy({ productId: 'gems', type: 'consumable', quantity: 3, ...own });
    await client.buy({ productId: 'pass', type: 'non renewing subscription', period: 'P1W', ...own });
    await client.buy({ productId: 'monthly', ...own });
    await client.buy({ productId: 'tested', type: 'non consumable', sandbox: true, ...own });
    await client.buy({ productId: 'of another', type: 'non consumable', applicationUsername: 'another' });
  });

  const toProductIds = (items: { productId: string }[]): string[] => items.map(({ productId }) => productId);

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
  ])('returns the matching items of %s with %j', async (path, more, expected) => {
    const { status, body } = await query(path, id, more);
    expect({ status, products: toProductIds(body.items) }).toEqual({ status: 200, products: expected });
  });

  it('returns pages', async () => {
    const productIds: string[] = [];
    let continuationToken: string | undefined;
    do {
      const { body } = await query('/v6.0/collections/query', id, { maxPageSize: 2, continuationToken });
      productIds.push(...toProductIds(body.items));
      continuationToken = body.continuationToken;
    } while (continuationToken !== undefined);
    expect(productIds).toEqual(['app', 'coins', 'gems', 'pass', 'monthly']);
  });

  it('returns the documented members in version 9', async () => {
    const productSkuIds = ['app', 'gems', 'pass', 'monthly'].map((productId) => ({ productId }));
    const { items } = (await query('/v9.0/collections/PublisherQuery', id, { productSkuIds })).body;
    expect(items).toMatchObject([
      { id, productKind: 'Durable', status: 'Active', quantity: 1, endDate: '9999-12-31T23:59:59.9999999+00:00' },
      { productKind: 'Consumable', quantity: 3, acquisitionType: 'Single' },
      { productKind: 'Durable', endDate: '2027-02-07T10:00:00.0000000+00:00' },
      { productKind: 'Durable', acquisitionType: 'Recurring', recurrenceId: expect.stringMatching(/^mdr:0:/) },
    ]);
  });

  it('requires products in version 9 and one customer in every version', async () => {
    const invalid = { status: 400, body: { code: 'BadRequest', innererror: { code: 'InvalidParameter' } } };
    expect(await query('/v9.0/collections/PublisherQuery', id)).toMatchObject(invalid);
    const nobody = { beneficiaries: [], productSkuIds: [{ productId: 'app' }] };
    expect(await query('/v9.0/collections/PublisherQuery', id, nobody)).toMatchObject(invalid);
    expect(await query('/v6.0/collections/query', id, { continuationToken: 'x' })).toMatchObject(invalid);
  });
});

describe('item of the Microsoft Store', () => {
  it('expires at its end', async () => {
    const secondClient = await startMicrosoftStoreClient();
    const { id } = (await secondClient.buy({ productId: 'week', type: 'non renewing subscription', period: 'P1W' }))
      .body;
    await secondClient.advance('P8D');
    expect((await secondClient.items(id, 'week')).body.items).toMatchObject([{ status: 'Expired' }]);
    expect((await secondClient.items(id, 'week', { validityType: 'Valid' })).body.items).toEqual([]);
    expect((await secondClient.items(id, 'week', { validityType: 'Invalid' })).body.items).toHaveLength(1);
    expect(await secondClient.buy({ productId: 'week', type: 'non renewing subscription' })).toMatchObject({
      status: 200,
    });
    await secondClient.close();
  });

  it('changes to Revoked after a refund, which the orders query returns', async () => {
    const { id } = (await client.buy({ productId: 'refunded', type: 'non consumable' })).body;
    const orders = async (more: object = {}) =>
      (await client.post(purchaseHost, '/v8.0/b2b/orders/query', { b2bKey: await client.key('purchase', id), ...more }))
        .body.items;
    expect(await orders()).toEqual([]);
    expect(await orders({ lineItemStateFilter: ['Purchased'] })).toHaveLength(1);
    expect(await client.act(id, 'refund')).toMatchObject({
      status: 200,
      body: { state: 'Revoked', notifications: [] },
    });
    expect((await client.items(id, 'refunded')).body.items).toMatchObject([{ status: 'Revoked' }]);
    expect(await orders()).toMatchObject([
      { orderRefundedDate: expect.any(String), orderLineItems: [{ productId: 'refunded', lineItemState: 'Refunded' }] },
    ]);
    expect(await client.act(id, 'refund')).toMatchObject({ status: 422 });
  });

  it('expires early only if it has an end', async () => {
    const { id } = (await client.buy({ productId: 'ended', type: 'non renewing subscription' })).body;
    expect(await client.act(id, 'expire')).toMatchObject({ status: 200, body: { state: 'Expired' } });
    expect(await client.act(id, 'expire')).toMatchObject({ status: 422 });
    const { id: forEver } = (await client.buy({ productId: 'for ever', type: 'non consumable' })).body;
    for (const action of ['expire', 'renew', 'cancel']) {
      expect(await client.act(forEver, action)).toMatchObject({ status: 422 });
    }
    await client.act(forEver, 'refund');
    expect(await client.act(forEver, 'revoke')).toMatchObject({ status: 422 });
  });

  it('returns the remaining time of a trial', async () => {
    const { id } = (await client.buy({ productId: 'trial', type: 'non consumable', trial: 'P1W' })).body;
    expect((await client.items(id, 'trial')).body.items).toMatchObject([
      { trialData: { isTrial: true, isInTrialPeriod: true, trialTimeRemaining: '7.00:00:00' } },
    ]);
  });
});

describe('consumable of the Microsoft Store', () => {
  const consume = async (id: string, productId: string, more: object = {}) =>
    client.post(collectionsHost, '/v8.0/collections/consume', {
      beneficiary: await buildBeneficiary(client.key, id),
      productId,
      trackingId: randomUUID(),
      ...more,
    });

  it('rejects another purchase before fulfillment if it is developer-managed', async () => {
    const order = { productId: 'lives', type: 'consumable', applicationUsername: 'gamer' };
    const { id } = (await client.buy(order)).body;
    expect(await client.buy(order)).toMatchObject({ status: 422 });
    expect(await consume(id, 'lives', { removeQuantity: 1 })).toMatchObject({ status: 400 });
    expect(await consume(id, 'lives')).toMatchObject({
      status: 200,
      body: { itemId: id, newQuantity: 0, productId: 'lives' },
    });
    expect((await client.items(id, 'lives')).body.items).toEqual([]);
    expect(await consume(id, 'lives')).toMatchObject({ status: 404 });
    expect(await client.buy(order)).toMatchObject({ status: 200 });
  });

  it('changes its balance once per tracking id if it is store-managed', async () => {
    const order = { productId: 'points', type: 'consumable', quantity: 5, applicationUsername: 'gamer' };
    const { id } = (await client.buy(order)).body;
    expect((await client.buy(order)).body).toMatchObject({ id, quantity: 10 });
    const request = { removeQuantity: 4, trackingId: randomUUID(), includeOrderIds: true };
    for (const _try of [1, 2]) {
      expect((await consume(id, 'points', request)).body).toMatchObject({
        newQuantity: 6,
        trackingId: request.trackingId,
        orderTransactions: [{ quantityConsumed: 4 }],
      });
    }
    expect(await consume(id, 'points', { removeQuantity: 7 })).toMatchObject({ status: 400 });
    expect((await client.items(id, 'points')).body.items).toMatchObject([{ quantity: 6 }]);
  });

  it('names the orders that the consumption of a store-managed balance used, also in a repetition', async () => {
    const order = { productId: 'packs', type: 'consumable', quantity: 5, applicationUsername: 'collector' };
    const { id } = (await client.buy(order)).body;
    const { transactionId: first } = (await client.items(id, 'packs')).body.items[0];
    await client.buy(order);
    const { transactionId: second } = (await client.items(id, 'packs')).body.items[0];
    const trackingId = randomUUID();
    for (const _try of [1, 2]) {
      const { body } = await consume(id, 'packs', { removeQuantity: 7, trackingId, includeOrderIds: true });
      expect(body).toMatchObject({
        newQuantity: 3,
        orderTransactions: [
          { orderId: first, quantityConsumed: 5 },
          { orderId: second, quantityConsumed: 2 },
        ],
      });
    }
    const last = await consume(id, 'packs', { removeQuantity: 3, includeOrderIds: true });
    expect(last.body.orderTransactions).toMatchObject([{ orderId: second, quantityConsumed: 3 }]);
  });

  it('accepts a refund after consumption', async () => {
    const { id } = (await client.buy({ productId: 'used up', type: 'consumable' })).body;
    await consume(id, 'used up');
    expect(await client.act(id, 'refund')).toMatchObject({ status: 200 });
    const query = { b2bKey: await client.key('purchase', id) };
    const { items } = (await client.post(purchaseHost, '/v8.0/b2b/orders/query', query)).body;
    expect(items).toMatchObject([{ orderLineItems: [{ lineItemState: 'Revoked' }] }]);
  });
});
