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

/** What a function can answer, in bytes. */
const mostBytes = 6 * 1024 * 1024;
const quantity = 24;

/** An application whose purchases have so many users that they are more than one answer can hold. */
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

/** An application with many purchases of 20 KB, each with a notification. */
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

describe('purchases that are too many for one answer', () => {
  it('are cut where dates were asked for, and the total tells', async () => {
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

  it('are read with their notifications until the answer is full, and not much further', async () => {
    const many = 1_500;
    const list = await givenManyPurchases(many);
    const { table: used } = deps();
    const before = used.consumed.read;
    const { body } = await list({ startdate: '2026-01-01', include_notifications: 'true' });
    expect(body.paging).toEqual({ skip: 0, limit: body.rows.length, total: many });
    expect(body.rows.length).toBeGreaterThan(200);
    expect(body.rows.length).toBeLessThan(300);
    for (const { notifications } of body.rows) expect(notifications).toHaveLength(1);
    // About 3.5 units for each of a portion of 500, one for its notifications, and about 50 for the index.
    expect(used.consumed.read - before).toBeLessThan(2_200);
  });

  it('are refused as a page, which a smaller one gives whole', async () => {
    const list = await givenLargePurchases();
    expect(await list({ limit: '1000' })).toMatchObject({ status: 413, body: { code: 'InvalidPayload' } });
    const { body } = await list({ limit: '10', skip: '10' });
    expect(body.rows).toHaveLength(10);
    expect(body.paging).toMatchObject({ skip: 10, limit: 10 });
  });
});
