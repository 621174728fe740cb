import { beforeAll, describe, expect, it } from '@jest/globals';
import { listPurchases } from '../../lib/api/purchases.ts';
import { notificationKey, purchaseIndexKeys, purchaseKey } from '../../lib/db/keys.ts';
import type { Table } from '../../lib/db/table.ts';
import { deps } from '../../lib/deps.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation, createUniqueName, givenApp, startDate } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
  process.env.MASTER_KEY_ID = 'unused';
});

/** Response limit of a Lambda function, in bytes. */
const mostBytes = 6 * 1024 * 1024;
const quantity = 24;

/** Creates an app whose purchases have so many users that they exceed the response limit. */
async function givenLargePurchases() {
  const { appName, secretKey } = await givenApp(table);
  const entitledUsers = Array.from({ length: 3_000 }, (_, index) => `${'user'.repeat(20)}-${index}`);
  for (let index = 0; index < quantity; index++) {
    const look = createObservation({ purchaseId: `store_a:${index}` });
    await deps().recordPurchase(appName, look.purchase.purchaseId, {
      ...{ trigger: 'validation', observation: look, strategy: 'all', now: startDate + index },
    });
    const key = purchaseKey(appName, look.purchase.purchaseId);
    const stored = await table.get(key);
    await table.transact([{ Put: { TableName: table.name, Item: { ...stored, ...key, entitledUsers } } }]);
  }
  return async (query: Record<string, string>) =>
    await callEndpoint(listPurchases, { headers: buildBasicAuth(appName, secretKey), query });
}

/** Creates an app with purchases of 20 KB, each with a notification. */
async function givenManyPurchases(many: number) {
  const { appName, secretKey } = await givenApp(table);
  const entitledUsers = Array.from({ length: 200 }, (_, index) => `${'user'.repeat(24)}-${index}`);
  const [other, { purchase }] = [createUniqueName(), createObservation()];
  await deps().recordPurchase(other, purchase.purchaseId, {
    ...{ trigger: 'validation', observation: createObservation(), strategy: 'all', now: startDate },
  });
  const stored = await table.get(purchaseKey(other, purchase.purchaseId));
  const items = Array.from({ length: many }, (_, index) => {
    const [purchaseId, at] = [`store_a:${index}`, startDate + index];
    const indexed = purchaseIndexKeys(appName, purchaseId, { createdAt: at, updatedAt: at });
    return [
      {
        ...stored,
        ...purchaseKey(appName, purchaseId),
        ...indexed,
        purchase: { ...purchase, purchaseId },
        entitledUsers,
      },
      { ...notificationKey(appName, purchaseId, at, 'n'), id: 'n', date: at, reason: 'RENEWED' },
    ];
  });
  await table.batchPut(items.flat());
  return async (query: Record<string, string>) =>
    await callEndpoint(listPurchases, { headers: buildBasicAuth(appName, secretKey), query });
}

describe('listPurchases over the response limit', () => {
  it('returns the first rows and the total for a date range', async () => {
    const list = await givenLargePurchases();
    const { status, body } = await list({ startdate: '2026-01-01' });
    expect(status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(mostBytes);
    expect(body.rows.length).toBeGreaterThan(10);
    expect(body.rows.map(({ purchaseId }: { purchaseId: string }) => purchaseId)).toEqual(
      Array.from({ length: body.rows.length }, (_, index) => `store_a:${index}`),
    );
    expect(body.paging).toEqual({ skip: 0, limit: body.rows.length, total: quantity });
  });

  it('stops reading notifications shortly after the response is full', async () => {
    const many = 1_500;
    const list = await givenManyPurchases(many);
    const { table: used } = deps();
    const before = used.consumed.read;
    const { body } = await list({ startdate: '2026-01-01', include_notifications: 'true' });
    expect(body.paging).toEqual({ skip: 0, limit: body.rows.length, total: many });
    expect(body.rows.length).toBeGreaterThan(200);
    expect(body.rows.length).toBeLessThan(300);
    for (const { notifications } of body.rows) expect(notifications).toHaveLength(1);
    // About 3.5 units per purchase of a batch of 500, one per notification query, and about 50 for the index.
    expect(used.consumed.read - before).toBeLessThan(2_200);
  });

  it('rejects a page that is too large and returns a smaller one', async () => {
    const list = await givenLargePurchases();
    expect(await list({ limit: '1000' })).toMatchObject({ status: 413, body: { code: 'InvalidPayload' } });
    const { body } = await list({ limit: '10', skip: '10' });
    expect(body.rows).toHaveLength(10);
    expect(body.paging).toMatchObject({ skip: 10, limit: 10 });
  });
});
