import { describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomer, getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { notificationKey, purchaseIndexKeys, purchaseKey } from '../../lib/foundation/keys.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createUniqueName, startDate } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { recordObservation } from '../../testing/purchase-inputs.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const table = startBeforeAll(createTestTable);
const service = startBeforeAll(startTestService);

/**
 * Maximum payload of a synchronous Lambda response, in bytes.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const maxLambdaResponseBytes = 6 * 1024 * 1024;
const largePurchaseCount = 24;

const givenPurchase = async (appName: string, purchaseId: string, now: number) =>
  await recordObservation(getService(), appName, { observation: createObservation({ purchaseId }), now });

const listEntitledUsers = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, index) => `${'user'.repeat(length)}-${index}`);

const fetchPurchases = async (keys: IssuedApiKeys, query: Record<string, string>) =>
  await callWithSecretKey(listPurchases, keys, { query });

/** Creates an app with 24 purchases of 3,000 entitled users each: more than one response can hold. */
async function givenLargePurchases(): Promise<IssuedApiKeys> {
  const keys = await givenApp(table);
  const entitledUsers = listEntitledUsers(3_000, 20);
  for (let index = 0; index < largePurchaseCount; index++) {
    const purchaseId = `store_a:${index}`;
    await givenPurchase(keys.appName, purchaseId, startDate + index);
    const key = purchaseKey(keys.appName, purchaseId);
    const item = { ...(await table.get(key)), ...key, entitledUsers };
    await table.transact([{ Put: { TableName: table.name, Item: item } }]);
  }
  return keys;
}

/** Purchases that `GET /v3/purchases` reads at a time. */
const batchSize = 500;

/**
 * Creates an app with many purchases, each with a notification. The first batch has purchases of 20 KB; the later ones
 * are small, because writing them would take most of the time of the test.
 */
async function givenManyPurchases(count: number): Promise<IssuedApiKeys> {
  const keys = await givenApp(table);
  const entitledUsers = listEntitledUsers(200, 24);
  const template = createUniqueName();
  const { purchase } = createObservation();
  await givenPurchase(template, purchase.purchaseId, startDate);
  const templateItem = await table.get(purchaseKey(template, purchase.purchaseId));
  const items = Array.from({ length: count }, (_, index) => {
    const [purchaseId, date] = [`store_a:${index}`, startDate + index];
    return [
      {
        ...templateItem,
        ...purchaseKey(keys.appName, purchaseId),
        ...purchaseIndexKeys(keys.appName, purchaseId, { createdAt: date, updatedAt: date }),
        purchase: { ...purchase, purchaseId },
        entitledUsers: index < batchSize ? entitledUsers : [],
      },
      {
        ...notificationKey(keys.appName, purchaseId, date, 0, 'n'),
        id: 'n',
        date,
        reason: 'RENEWED',
        platform: 'store_a',
        productId: 'store_a:monthly',
      },
    ];
  });
  await table.batchPut(items.flat());
  return keys;
}

describe('GET /v3/purchases with more purchases than a response can hold', () => {
  it('returns the first purchases of a date range, and the total of the range', async () => {
    const { status, body } = await fetchPurchases(await givenLargePurchases(), { startdate: '2026-01-01' });
    expect(status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(maxLambdaResponseBytes);
    expect(body.rows.length).toBeGreaterThan(10);
    expect(body.rows.map(({ purchaseId }: { purchaseId: string }) => purchaseId)).toEqual(
      Array.from({ length: body.rows.length }, (_, index) => `store_a:${index}`),
    );
    expect(body.paging).toEqual({ skip: 0, limit: body.rows.length, total: largePurchaseCount });
  });

  it('stops reading purchases and notifications after the batch that fills the response', async () => {
    const purchaseCount = 1_500;
    const keys = await givenManyPurchases(purchaseCount);
    const { consumed } = getService().table;
    const unitsBefore = consumed.read;
    const { body } = await fetchPurchases(keys, { startdate: '2026-01-01', include_notifications: 'true' });
    expect(body.paging).toEqual({ skip: 0, limit: body.rows.length, total: purchaseCount });
    expect(body.rows.length).toBeGreaterThan(200);
    expect(body.rows.length).toBeLessThan(300);
    for (const { notifications } of body.rows) expect(notifications).toHaveLength(1);
    // One batch is 2,030 units: 3 for each of 500 purchases, 1 for its notifications, and 30 for the index.
    expect(consumed.read - unitsBefore).toBeLessThan(2_200);
  });

  it('rejects a page that is too large, and returns a smaller one', async () => {
    const keys = await givenLargePurchases();
    expect(await fetchPurchases(keys, { limit: '1000' })).toMatchObject({
      status: 413,
      body: { code: 'InvalidPayload' },
    });
    const { body } = await fetchPurchases(keys, { limit: '10', skip: '10' });
    expect(body.rows).toHaveLength(10);
    expect(body.paging).toMatchObject({ skip: 10, limit: 10 });
  });
});

describe('a customer with more products than a response can hold', () => {
  const pages = 'GET /v3/purchases?customerId=ann%2Fb';
  it.each([
    [getCustomer, `Request fewer rows. Read pages of ${pages}.`],
    [getCustomerPurchases, `Read pages of ${pages}.`],
  ] as const)('is told how to read the purchases in pages', async (contract, advice) => {
    const keys = await givenApp(table);
    for (let index = 0; index < 20; index++) {
      const observation = createObservation({
        purchaseId: `store_a:${index}`,
        productId: `store_a:product-${index}`,
        discountId: 'offer'.repeat(60_000),
      });
      await recordObservation(getService(), keys.appName, { username: 'ann/b', observation });
    }
    expect(await callWithSecretKey(contract, keys, { params: { applicationUsername: 'ann/b' } })).toMatchObject({
      status: 413,
      body: { code: 'InvalidPayload', message: `The response is too large. ${advice}` },
    });
    const { body } = await fetchPurchases(keys, { customerId: 'ann/b', limit: '10' });
    expect(body.rows).toHaveLength(10);
  });
});

describe('POST /v1/validate with more purchases than a response can hold', () => {
  it('advises to read the recorded purchases in pages', async () => {
    const keys = await service.createApp(['store_a']);
    const applicationUsername = createUniqueName('user');
    const orders = Array.from({ length: largePurchaseCount }, (_, index) => ({
      platform: 'store_a',
      productId: `product-${index}`,
      type: 'non consumable',
      applicationUsername,
    }));
    let evidence = {};
    for (const order of orders) evidence = (await service.callControl('/purchases', order)).validate;
    expect(await service.validate(keys, evidence)).toMatchObject({ body: { ok: true } });
    const { body: page } = await fetchPurchases(keys, { customerId: applicationUsername });
    expect(page.rows).toHaveLength(largePurchaseCount);
    for (const { purchaseId } of page.rows) {
      const key = purchaseKey(keys.appName, purchaseId);
      const item = await table.get(key);
      // Newer than the store's response, which therefore does not replace it.
      const purchase = Object.assign({}, item?.purchase, { discountId: 'o'.repeat(300_000) });
      await table.batchPut([{ ...item, ...key, purchase, asOf: Date.now() + dayMs }]);
    }
    expect(await service.validate(keys, evidence)).toMatchObject({
      body: {
        ok: false,
        status: 413,
        message: 'The response is too large. Read pages of GET /v3/purchases.',
      },
    });
  });
});
