import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import type { App } from '../../lib/apps/app.ts';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { eraseCustomer } from '../../lib/customer-data/erase-customer.ts';
import { exportCustomer } from '../../lib/customer-data/export-customer.ts';
import { reverseMerge } from '../../lib/customer-data/merge-customers.ts';
import { listMerges } from '../../lib/customers/merge-table.ts';
import { exportApp } from '../../lib/export/export-app.ts';
import type { ExportState } from '../../lib/export/export-state.ts';
import type { Service } from '../../lib/foundation/service.ts';
import { dayMs, hourMs, secondMs } from '../../lib/foundation/time.ts';
import { migrateTable } from '../../lib/migration/migrate-table.ts';
import { findPurchaseForChange } from '../../lib/purchases/purchase-table.ts';
import { recordRefundOutcome, recordRefundRequest } from '../../lib/refunds/record-refund-request.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';
import { recount } from '../../lib/statistics/recount.ts';
import { fanOutDeliveries } from '../../lib/webhooks/fan-out.ts';
import { type CallResult, callWithSecretKey } from '../../testing/call.ts';
import { formatItem, scanItems } from '../../testing/dump-items.ts';
import { findNames } from '../../testing/find-names.ts';
import { createTransaction } from '../../testing/given.ts';
import { recordObservation } from '../../testing/purchase-inputs.ts';
import { createRecordedTable, type RecordedTable } from '../../testing/recorded-table.ts';
import { startStoredDataService, storedData } from '../../testing/stored-data.ts';
import { startWorkQueues, type WorkQueues } from '../../testing/work-queues.ts';

interface PurchaseRow {
  readonly platform: string;
  readonly purchaseId: string;
  readonly entitledUsers: readonly string[];
}

interface DeliveryRow {
  readonly deliveryId: string;
  readonly applicationUsername?: string;
  readonly notification: { readonly reason: string };
}

const key = { id: 'key', name: 'main' };
const until = '2031-12-31T00:00:00.000Z';

describe.each(storedData)('items of the release at $commit', (data) => {
  const { commit, recorded } = data;
  const { appName } = recorded;
  const now = Math.floor(recorded.now / secondMs) * secondMs;
  const tableName = `stored-writes-${commit}`;
  let queues: WorkQueues;
  let started: Awaited<ReturnType<typeof startStoredDataService>>;
  let changes: RecordedTable;
  let service: Service;
  let app: App;
  let differences: readonly string[];
  beforeAll(async () => {
    queues = await startWorkQueues();
    started = await startStoredDataService(tableName, data, (table) => {
      changes = createRecordedTable(table, 1);
      return changes.table;
    });
    ({ service } = started);
    await migrateTable(service);
    app = await getApp(service, appName);
    differences = await listDifferences();
  });
  afterAll(async () => {
    await started?.close();
    await queues?.close();
  });

  const call = async (id: Contract['id'], params: Record<string, string> = {}, body?: object): Promise<CallResult> => {
    const contract = contracts.find((candidate) => candidate.id === id);
    if (!contract) throw new Error(`No contract has the id ${id}.`);
    return await callWithSecretKey(contract, recorded, { params, ...(body && { body }) });
  };
  const read = async (id: Contract['id'], params?: Record<string, string>) => (await call(id, params)).body;
  const answer = (path: string) => recorded.answers[path] ?? {};
  const findPurchaseId = (username: string, platform: string): string =>
    (answer('/v3/purchases').rows as readonly PurchaseRow[]).find(
      (row) => row.platform === platform && row.entitledUsers.includes(username),
    )?.purchaseId ?? '';
  const findOwner = (username: string) => ({ applicationUsername: username });

  let countedRecords = 0;
  /** Lets the workers of the stream handle the changes since the last call. Returns the reasons of new webhooks. */
  const runStreamWorkers = async (): Promise<string[]> => {
    const records = (changes.shards[0] ?? []).slice(countedRecords);
    countedRecords += records.length;
    const listRows = async () => (await read('list-deliveries')).rows as readonly DeliveryRow[];
    const before = new Set((await listRows()).map(({ deliveryId }) => deliveryId));
    expect(await fanOutDeliveries(service, records)).toBeUndefined();
    await aggregateStreamRecords(service, records, 'shard');
    return (await listRows())
      .filter(({ deliveryId }) => !before.has(deliveryId))
      .map(({ applicationUsername, notification: { reason } }) => `${applicationUsername} ${reason}`)
      .sort();
  };

  /**
   * Lists how the counters differ from the items. Earlier commits had fewer counters, so some differ before all writes.
   * The requests of the test are counted later.
   */
  const listDifferences = async (): Promise<string[]> =>
    (await recount(service, appName, ['2031-01-01', '2031-03-31']))
      .map(({ version: _version, recounted: _recounted, change: { requests: _requests, ...change }, ...counter }) =>
        JSON.stringify({ ...counter, change }),
      )
      .sort();

  it.each([
    ['validation', 'ann', 'store_a'],
    ['notification', 'ben', 'store_b'],
    ['refresh', 'cleo', 'store_c'],
    ['notification', 'dana', 'processor_a'],
    ['refresh', 'eve', 'processor_b'],
  ] as const)('accept a renewal by a %s of %s', async (trigger, username, platform) => {
    const purchaseId = findPurchaseId(username, platform);
    const before = await read('get-purchase', { purchaseId });
    const stored = await findPurchaseForChange(service, appName, purchaseId);
    if (!stored) throw new Error('The purchase is missing.');
    const expirationDate = now + 30 * dayMs;
    const purchase = {
      ...stored.state.purchase,
      transactionId: `${platform}:renewal`,
      lastRenewalDate: now,
      expirationDate,
      isBillingRetryPeriod: false,
    };
    const transactions = [createTransaction(purchase, { amountMicros: 5_000_000 })];
    await recordObservation(service, appName, {
      trigger,
      observation: { asOf: now, purchase, transactions, userAliases: [] },
      ...(trigger === 'validation' && { username }),
      strategy: app.strategy,
      now,
    });
    const { entitledUsers, productId: product, purchaseDate, renewalIntent } = before;
    expect(await read('get-purchase', { purchaseId })).toMatchObject({
      ...{ entitledUsers, productId: product, purchaseDate, renewalIntent },
      transactionId: purchase.transactionId,
      lastRenewalDate: new Date(now).toISOString(),
      expirationDate: new Date(expirationDate).toISOString(),
      isExpired: false,
      amountUSD: 5,
    });
    const { transactions: listed } = await read('get-customer-transactions', findOwner(username));
    expect(listed).toHaveLength(answer(`/v3/customers/${username}/transactions`).transactions.length + 1);
    expect(await runStreamWorkers()).toContain(`${username} RENEWED`);
    expect(await listDifferences()).toEqual(differences);
  });

  it('accept a refund request and its answer', async () => {
    const [former] = answer('/v3/refund-requests').rows;
    const { platform, purchaseId, transactionId } = former;
    const request = { platform, purchaseId, transactionId, sandbox: false, reason: 'OTHER', reference: {} };
    const { requestId } = await recordRefundRequest(service, appName, {
      ...request,
      requestedAt: now,
      deadline: now + 12 * hourMs,
    });
    expect(requestId).toBe(former.id.replace(/1$/, '2'));
    const statement = { preference: 'decline', customerConsented: true };
    expect(await call('answer-refund-request', { id: requestId }, statement)).toMatchObject({
      status: 200,
      body: { state: 'answered', applicationUsername: 'ann', answer: { preference: 'decline' } },
    });
    await recordRefundOutcome(service, appName, { transactionId, outcome: 'declined' }, now + 1);
    expect(await read('get-refund-request', { id: requestId })).toMatchObject({ outcome: 'declined' });
    expect(await read('get-refund-request', { id: former.id })).toMatchObject({ outcome: former.outcome });
    expect(await call('answer-refund-request', { id: former.id }, statement)).toMatchObject({ status: 409 });
  });

  it('accept a change and the end of a grant', async () => {
    const { rows } = await read('list-grants', findOwner('jon'));
    const params = { ...findOwner('jon'), grantId: rows[0].grantId };
    expect(await call('change-grant', params, { until })).toMatchObject({ status: 200, body: { until } });
    expect(await read('get-customer-entitlements', findOwner('jon'))).toMatchObject({
      entitlements: { beta: { isActive: true, until } },
    });
    expect((await call('revoke-grant', params)).status).toBe(200);
    expect((await read('list-grants', findOwner('jon'))).rows).toEqual([
      expect.objectContaining({ grantId: params.grantId, isActive: false }),
    ]);
    expect(await runStreamWorkers()).toEqual(['jon EXTENDED', 'jon REVOKED']);
  });

  it('accept credits, which the customer spends', async () => {
    const body = { credit: 'coins', amount: 100, idempotencyKey: 'gift', reason: 'a gift' };
    expect((await call('give-credits', findOwner('ann'), body)).status).toBe(200);
    expect(
      (await call('spend-credits', findOwner('ann'), { credit: 'coins', amount: 30, idempotencyKey: 'spend' })).status,
    ).toBe(200);
    expect(await read('get-customer-credits', findOwner('ann'))).toMatchObject({ credits: { coins: { balance: 70 } } });
  });

  it('accept a merge and its reversal, and the reversal of an earlier merge', async () => {
    const listPurchases = async (username: string) => await read('get-customer-purchases', findOwner(username));
    const before = await Promise.all(['ann', 'ben', 'guest-1'].map(listPurchases));
    expect((await call('merge-customer', findOwner('ann'), { from: 'ben' })).status).toBe(200);
    expect((await listPurchases('ben')).purchases).toEqual({});
    const [former, merge] = await listMerges(service, appName, 'ann');
    await reverseMerge(service, app, { to: 'ann', mergeId: merge?.mergeId ?? '', key });
    expect(await Promise.all(['ann', 'ben', 'guest-1'].map(listPurchases))).toEqual(before);
    await reverseMerge(service, app, { to: 'ann', mergeId: former?.mergeId ?? '', key });
    expect(Object.keys((await listPurchases('guest-1')).purchases)).toEqual(['store_b:premium']);
    expect(Object.keys((await listPurchases('ann')).purchases)).toEqual(['store_a:premium']);
  });

  it('accept changes of the settings', async () => {
    const catalogue = { coins: { type: 'consumable', credits: { coins: 10 } } };
    expect((await call('set-catalogue', {}, catalogue)).status).toBe(200);
    expect(await read('get-catalogue')).toMatchObject(catalogue);
    expect((await call('change-app', {}, { strategy: 'last' })).status).toBe(200);
    const urls = ['https://new.example.com/hook'];
    expect((await call('set-webhook', {}, { urls })).status).toBe(200);
    const forwards = [{ url: 'https://new.example.com/stores' }];
    expect((await call('set-forwards', {}, forwards)).status).toBe(200);
    expect(await getApp(service, appName)).toMatchObject({ strategy: 'last', webhookSettings: { urls } });
    expect(await read('get-forwards')).toEqual(forwards);
  });

  const deliveries: readonly (DeliveryRow & { readonly state: string })[] =
    answer('/v3/webhooks/deliveries').rows ?? [];
  const sent = deliveries.find(({ state }) => state !== 'pending');
  if (sent)
    it('repeat a webhook', async () => {
      expect(await call('replay-delivery', { id: sent.deliveryId })).toMatchObject({
        status: 200,
        body: { ok: true, delivery: { state: 'pending' } },
      });
    });

  it('appear in the export of an app and of a customer', async () => {
    const rows = new Map<string, number>();
    let state: ExportState | undefined;
    const target = {
      readState: async () => state,
      writeState: async (next: ExportState) => {
        state = next;
      },
      openFile: async (path: string) => ({
        write: async (written: readonly object[]) => {
          const [, table = ''] = /(purchases|transactions|customers|entitlements)/.exec(path) ?? [];
          rows.set(table, (rows.get(table) ?? 0) + written.length);
        },
        close: async () => {},
        discard: async () => {},
      }),
    };
    await exportApp(service, app, target, { kind: 'full' });
    const total = async (id: Contract['id']) => (await read(id)).paging.total;
    expect(rows.get('purchases')).toBe(await total('list-purchases'));
    expect(rows.get('transactions')).toBe(await total('list-transactions'));
    const chunks: string[] = [];
    for await (const chunk of exportCustomer(service, app, 'dana')) chunks.push(chunk);
    expect(JSON.parse(chunks.join(''))).toMatchObject({ purchases: expect.anything() });
  });

  it('lose the data of an erased customer', async () => {
    const counts = await eraseCustomer(service, app, 'guest-1', { wait: async () => {} });
    expect(counts).toMatchObject({ purchases: 1, customerItems: expect.any(Number) });
    expect(findNames((await scanItems(tableName)).map(formatItem), ['guest-1'])).toEqual([]);
  });
});
