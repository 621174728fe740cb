import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ScanCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApp, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { findStoreSettings, setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { splitIntoChunks } from '../../lib/foundation/batches.ts';
import { createCipher } from '../../lib/foundation/cipher.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { createTableClient } from '../../lib/foundation/table.ts';
import type { LocalService } from '../../local/start-local.ts';
import { startTableEngine } from '../../local/table-engine/start-table-engine.ts';
import type { TableEngine } from '../../local/table-engine/table-engine.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { spawnSuccessfully } from '../../testing/command-line.ts';
import { createService } from '../../testing/create-service.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { createTestTable } from '../../testing/table.ts';
import { waitFor } from '../../testing/wait-for.ts';

// biome-ignore lint/suspicious/noExplicitAny: the test reads responses of every shape.
type Json = Readonly<Record<string, any>>;
type StoredItem = Readonly<Record<string, AttributeValue>>;

const subscriptions: Readonly<Record<string, [platform: Platform, productId: string]>> = {
  ann: ['store_a', 'premium'],
  bob: ['store_b', 'premium'],
  cleo: ['store_c', '9NBLGGH5W123'],
  dora: ['processor_a', 'premium'],
  emil: ['processor_b', 'monthly'],
};

/** A complete ARN, as in the stack output `MasterKeyId`. */
const masterKeyArn = 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:MasterKey-AbCdEf';
const restoredTable = createUniqueName();
const folder = mkdtempSync(join(tmpdir(), 'claimcheck-restore-'));

let engine: TableEngine;
let service: LocalService;
let shop: IssuedApiKeys;
let masterKey: string;

/** Time of the restore, and its day (UTC), on the clock of the service. */
let restoredTo: string;
const webhooks: string[] = [];

/** Purchases by user: the id at the emulator and the body of the validation. */
const purchases = new Map<string, { readonly id: string; readonly validate: Json }>();

const start = async (options?: Parameters<typeof startLocalService>[0]) =>
  await startLocalService({ folder, onWebhook: (line) => webhooks.push(line), ...options });

async function control(path: string, body?: object, method = 'POST'): Promise<Json> {
  const init = body ? { method, body: JSON.stringify(body) } : {};
  const response = await fetch(`${service.emulatorUrl}/control${path}`, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return (text ? JSON.parse(text) : {}) as Json;
}

async function callService(path: string, body?: object): Promise<Json> {
  const headers = buildBasicAuth(shop.appName, shop.secretKey);
  const init = body ? { method: 'POST', body: JSON.stringify(body), headers } : { headers };
  const response = await fetch(service.baseUrl + path, init);
  return { status: response.status, ...((await response.json()) as object) };
}

/** Runs a command of the runbook. Returns its output. */
/** Runs a command as a separate process: the service changes during the tests. */
const cli = async (...args: readonly string[]): Promise<string> => await spawnSuccessfully(service.environment, args);

const createTableService = (key = masterKey, table = service.environment.TABLE_NAME ?? '') =>
  createService(createTableClient(table), { cipher: createCipher(async () => key, Date.now) });

async function createShop(): Promise<void> {
  const tableService = createTableService();
  shop = await createApp(tableService, createUniqueName(), Date.now());
  for (const [platform] of Object.values(subscriptions))
    await setStoreSettings(tableService, shop.appName, platform, await control(`/settings/${platform}`));
  await cli('app', 'set-webhook', shop.appName, '--url', service.webhooks.urls[0] ?? '');
}

async function sendNotificationsToShop(): Promise<void> {
  for (const [platform] of Object.values(subscriptions)) {
    if (platform === 'store_c') continue;
    const url = `${service.baseUrl}/v3/webhook/${platform}/${shop.appName}`;
    await control(`/notifications/${platform}`, { url }, 'PUT');
  }
}

async function buy(applicationUsername: string, [platform, productId]: readonly [Platform, string]): Promise<void> {
  const order = { platform, productId, type: 'paid subscription', applicationUsername, autoRenew: true };
  const { id, validate } = await control('/purchases', order);
  purchases.set(applicationUsername, { id, validate });
  expect(await callService('/v1/validate', validate)).toMatchObject({ ok: true });
}

const act = async (username: string, action: string) =>
  await control(`/purchases/${purchases.get(username)?.id}/${action}`, {});
const listWebhooks = (reason: string, username: string) =>
  webhooks.filter((line) => line.startsWith(`Webhook  ${reason}  ${username} `));
const waitForWebhook = async (reason: string, username: string) =>
  await waitFor(`${reason} of ${username}`, () => listWebhooks(reason, username).length > 0);
const getPurchase = async (username: string): Promise<Json> =>
  Object.values((await callService(`/v3/customers/${username}/purchases`)).purchases as Record<string, Json>)[0] ?? {};

const database = () => new DynamoDBClient({});

async function scanTable(TableName: string): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  let ExclusiveStartKey: StoredItem | undefined;
  do {
    const page = await database().send(
      new ScanCommand({ TableName, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    );
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

const isExpired = async (username: string): Promise<boolean> => (await getPurchase(username)).isExpired as boolean;

/** Transactions in the counters, and in the table. */
async function countTransactions(): Promise<{ readonly counted: number; readonly stored: number }> {
  const { rows } = await callService('/v3/transactions');
  const days: Json[] = [];
  for (const sandbox of [false, true]) days.push(...(await callService(`/v3/stats?sandbox=${sandbox}`)).dailyStats);
  const counted = days.reduce((sum, { numTransactions }) => sum + numTransactions, 0);
  return { counted, stored: rows.length };
}

/** Point-in-time recovery restores items and indexes, but neither the stream nor TTL: the runbook enables them. */
async function restoreTable(items: readonly StoredItem[]): Promise<void> {
  await createTestTable(restoredTable);
  for (const chunk of splitIntoChunks(items, 25)) {
    const writes = chunk.map((Item) => ({ PutRequest: { Item: { ...Item } } }));
    await database().send(new BatchWriteItemCommand({ RequestItems: { [restoredTable]: writes } }));
  }
  await database().send(
    new UpdateTableCommand({
      TableName: restoredTable,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  await database().send(
    new UpdateTimeToLiveCommand({
      TableName: restoredTable,
      TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' },
    }),
  );
}

const isIn = (partition: string) => (item: StoredItem) => item.pk?.S?.startsWith(partition) ?? false;

/**
 * Builds the table at the restored time. The workers of the stream were behind: the last purchase is neither counted
 * nor announced, and the webhook of one customer was enqueued but not sent.
 */
function buildRestoredItems(counted: readonly StoredItem[], stored: readonly StoredItem[]): StoredItem[] {
  const isWrittenByStream = (item: StoredItem) => ['S', 'D#'].some((kind) => isIn(`${shop.appName}#${kind}`)(item));
  const setInFlight = ({ ttl: _ttl, ...item }: StoredItem): StoredItem => ({ ...item, state: { S: 'pending' } });
  return [
    ...stored.filter((item) => !isWrittenByStream(item)),
    ...counted
      .filter(isWrittenByStream)
      .map((item) => (item.username?.S === 'emil' && item.state ? setInFlight(item) : item)),
  ];
}

beforeAll(async () => {
  // The table of the test is in the table engine of both services.
  engine = await startTableEngine();
  process.env.DYNAMODB_ENDPOINT = engine.endpoint;
  service = await start();
  const { secrets } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as {
    secrets: Record<string, string>;
  };
  const { TABLE_NAME: lostTable = '', MASTER_KEY_ID = '' } = service.environment;
  masterKey = secrets[MASTER_KEY_ID] ?? '';
  await createShop();
  await sendNotificationsToShop();
  for (const [username, subscription] of Object.entries(subscriptions)) await buy(username, subscription);
  for (const username of Object.keys(subscriptions)) await waitForWebhook('PURCHASED', username);
  await waitFor('the counters', countTransactions, ({ counted, stored }) => counted === stored);
  // A webhook is received before its delivery is stored as sent.
  await waitUntilQueuesEmpty(service);
  const counted = await scanTable(lostTable);
  await buy('fred', ['store_a', 'premium']);
  const stored = await scanTable(lostTable);
  restoredTo = (await control('/clock')).now;

  // After the restored time. The stores have delivered these notifications and do not repeat them.
  await act('ann', 'refund');
  await act('bob', 'revoke');
  await act('dora', 'expire');
  for (const username of ['ann', 'bob', 'dora']) await waitFor(`the end for ${username}`, () => isExpired(username));
  await buy('gina', ['store_a', 'premium']);

  await restoreTable(buildRestoredItems(counted, stored));
  await service.close();
  await database().send(new DeleteTableCommand({ TableName: lostTable }));
  webhooks.length = 0;
  service = await start({ adopted: { tableName: restoredTable, masterKeyArn, masterKey } });
  await sendNotificationsToShop();
}, 1_200_000);
afterAll(async () => {
  await service?.close();
  await engine?.close();
  rmSync(folder, { recursive: true });
});

describe('a stack that adopts a restored table', () => {
  it('accepts the keys and continues the purchases of the table', async () => {
    expect(service.environment).toMatchObject({ TABLE_NAME: restoredTable, MASTER_KEY_ID: masterKeyArn });
    for (const username of ['cleo', 'fred']) {
      expect(await isExpired(username)).toBe(false);
      // The validation queries the store with the encrypted settings of the table.
      expect(await callService('/v1/validate', purchases.get(username)?.validate)).toMatchObject({ ok: true });
      expect((await callService(`/v3/customers/${username}/purchases`)).purchases).toEqual({
        [`${(await getPurchase(username)).productId}`]: expect.objectContaining({ isExpired: false }),
      });
    }
  });

  it('reads the settings only with the master key of the table', async () => {
    const findSettings = async (key: string) =>
      await findStoreSettings(createTableService(key), shop.appName, 'store_a');
    expect(await findSettings(masterKey)).toMatchObject({ bundleId: expect.any(String) });
    await expect(findSettings('another-master-key')).rejects.toThrow();
  });

  it('recovers the changes that the stores reported after the restored time', async () => {
    expect(await Promise.all(['ann', 'bob', 'dora'].map(isExpired))).toEqual([false, false, false]);
    const recovered = await cli('notifications', 'recover', shop.appName, '--from', restoredTo);
    expect(recovered).toMatch(/^store_a {2}[1-9]\d* notifications? processed, 0 failed\.$/m);
    expect(await Promise.all(['ann', 'bob', 'dora'].map(isExpired))).toEqual([true, true, false]);
    expect(await cli('notifications', 'recover', shop.appName, '--from', restoredTo)).toBe(
      '0 notifications processed.\n',
    );
    expect(await cli('purchases', 'refresh', shop.appName)).toMatch(/^\d+ purchases? refreshed\.$/m);
    expect(await isExpired('dora')).toBe(true);
  });

  it('returns a purchase after the restored time when its client validates again', async () => {
    expect(await callService('/v1/validate', purchases.get('gina')?.validate)).toMatchObject({ ok: true });
    expect(await isExpired('gina')).toBe(false);
  });

  it('sends the webhooks that were missing or in flight, and no other one again', async () => {
    // The age from which a first message counts as lost.
    await control('/clock', { advance: 'PT20M' });
    const range = ['--from', new Date(Date.parse(restoredTo) - 3_600_000).toISOString(), '--to', restoredTo];
    expect(await cli('deliveries', 'backfill', shop.appName, ...range)).toMatch(/, 2 missing deliveries created\.$/m);
    for (const username of ['emil', 'fred']) await waitForWebhook('PURCHASED', username);
  });

  it('counts every transaction once', async () => {
    await control('/clock', { advance: 'P1D' });
    const day = restoredTo.slice(0, 10);
    const isOneMissing = async () => {
      const { counted, stored } = await countTransactions();
      return counted === stored - 1;
    };
    await waitFor('the counters of the new payments', isOneMissing);
    const correct = async () => await cli('stats', 'recount', shop.appName, '--from', day, '--to', day, '--correct');
    // Exits with 1 while the counters change.
    const isCorrected = async () =>
      await correct().then(
        () => true,
        () => false,
      );
    await waitFor('the correction of the counters', isCorrected);
    const { counted, stored } = await countTransactions();
    expect(counted).toBe(stored);
    expect(stored).toBeGreaterThan(Object.keys(subscriptions).length);
  });

  it('continues the refresh schedule, and announces no purchase of the table a second time', async () => {
    // Without notifications, only the schedule finds the renewal.
    await control('/notifications/store_a', { url: null }, 'PUT');
    await control('/clock', { advance: 'P1M' });
    await waitForWebhook('RENEWED', 'fred');
    expect(listWebhooks('RENEWED', 'fred')).toHaveLength(1);
    for (const username of ['ann', 'bob', 'cleo', 'dora']) expect(listWebhooks('PURCHASED', username)).toEqual([]);
    for (const username of ['emil', 'fred']) expect(listWebhooks('PURCHASED', username)).toHaveLength(1);
  });
});
