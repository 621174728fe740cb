import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, paginateScan, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { indexes, tableKey } from '../../lib/foundation/key.ts';
import { callLocalControl, callLocalService, type Json, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { runCommand } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';

const output: string[] = [];
const webhooks: string[] = [];
const service = startBeforeAll(
  async () => await startLocalService({ log: (text) => output.push(text), onWebhook: (line) => webhooks.push(line) }),
);

const control = async (path: string, body: object): Promise<Json> => await callLocalControl(service, path, body);

async function callService(path: string, body?: object): Promise<Json> {
  const response = await callLocalService(service, path, body);
  expect([path, response.status]).toEqual([path, 200]);
  return response.body;
}

const platforms = ['store_a', 'store_b', 'processor_a', 'processor_b'] as const;

async function buyEverywhere(): Promise<readonly object[]> {
  const requests: object[] = [];
  for (const platform of platforms) {
    const productId = platform === 'processor_b' ? 'monthly' : 'premium';
    const order = { platform, productId, type: 'paid subscription', applicationUsername: 'ann', autoRenew: true };
    const { validate } = await control('/purchases', order);
    requests.push(validate);
  }
  return requests;
}

async function validateAll(requests: readonly object[]): Promise<void> {
  for (const request of requests) expect(await callService('/v1/validate', request)).toMatchObject({ ok: true });
}

const readPaths = [
  '/v3/customers',
  '/v3/customers/ann',
  '/v3/customers/ann/purchases',
  '/v3/customers/ann/transactions',
  '/v3/customers/ann/subscription',
  '/v3/purchases?include_notifications=true',
  '/v3/transactions',
  '/v3/events',
  '/v3/stats',
  '/v2/stats',
];

/** Objects with an entry for each counter, shard or tag instead of members. */
const maps = ['counts', 'checkpoints', 'tags', 'trimmed'];
const unchanged = new Set([...[tableKey, ...Object.values(indexes)].flatMap(({ pk, sk }) => [pk, sk]), ...maps]);

/** Adds a member to the item and to each object in it. */
function addMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addMembers);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    unchanged.has(name) ? member : addMembers(member),
  ]);
  return { ...Object.fromEntries(members), memberOfNewerRelease: { since: 1 } };
}

async function addMembersToAllItems(): Promise<Set<string>> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const kinds = new Set<string>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName: service.environment.TABLE_NAME ?? '' })) {
    for (const item of Items) {
      kinds.add(String(item.sk).replace(/#.*/, ''));
      await client.send(
        new PutCommand({ TableName: service.environment.TABLE_NAME ?? '', Item: addMembers(item) as Json }),
      );
    }
  }
  return kinds;
}

describe('items of a newer release', () => {
  it('pass a validation, a list, a refresh and an announcement of this release, which a rollback deploys', async () => {
    const requests = await buyEverywhere();
    await validateAll(requests);
    await waitUntilQueuesEmpty(service);
    const webhooksBefore = webhooks.length;
    const kinds = await addMembersToAllItems();
    expect([...kinds]).toEqual(expect.arrayContaining(['APP', 'STORE', 'P', 'C', 'T', 'D', 'M', 'E', 'U']));
    await validateAll(requests);
    for (const path of readPaths) await callService(path);
    await control('/clock', { advance: 'P32D' });
    const renewed = async () => (await callService('/v3/transactions')).rows.length;
    await waitFor('renewals of all purchases', renewed, (count) => count >= 2 * platforms.length);
    await waitFor(
      'webhooks of the renewals',
      () => webhooks.length,
      (count) => count > webhooksBefore,
    );
    await waitUntilQueuesEmpty(service);
    expect(output.filter((text) => /"level":"ERROR"|DatabaseError|InternalError/.test(text))).toEqual([]);
  });
});

describe('stream records that the workers cannot read', () => {
  const table = () => service.environment.TABLE_NAME ?? '';
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const put = async (item: Json) => await client.send(new PutCommand({ TableName: table(), Item: item }));
  const run = async (...args: string[]) => {
    const { code, out, error } = await runCommand(service.environment, ['--json', ...args]);
    if (out === '') throw new Error(error);
    return { code, data: JSON.parse(out) };
  };
  const listFailures = async (): Promise<Json[]> => (await run('webhooks', 'stream-failures', 'list')).data;
  const waitForFailures = async (count: number) =>
    await waitFor('stream failures', listFailures, (failures) => failures.length >= count);

  it('delay no later record, and are replayed by a command after the correction', async () => {
    const { appName } = service;
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername: 'eve' };
    const { validate } = await control('/purchases', order);
    const { data } = await callService('/v1/validate', validate);
    const { purchaseId } = (data as Json).collection[0];
    const partition = { pk: `${appName}#P#store_a:${purchaseId.replace(/^store_a:/, '')}` };
    const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': partition.pk } };
    const { Items = [] } = await client.send(new QueryCommand({ TableName: table(), ...query }));
    const [purchase, transaction] = ['P', 'T'].map((kind) => Items.find(({ sk }) => sk.split('#')[0] === kind) as Json);
    if (!purchase || !transaction) throw new Error('The purchase is not stored.');
    await waitUntilQueuesEmpty(service);

    const renewal = {
      ...purchase,
      version: purchase.version + 1,
      announcedReasons: ['RENEWED'],
    };
    const payment = {
      ...transaction,
      sk: `${transaction.sk}-planted`,
      transaction: { ...transaction.transaction, transactionId: `${transaction.transaction.transactionId}-planted` },
    };
    await put({ ...renewal, entitledUsers: 'eve' });
    await put({ ...payment, transaction: 7 });
    const later = await control('/purchases', { ...order, applicationUsername: 'bob' });
    await callService('/v1/validate', later.validate);
    const listCustomers = async () => (await callService('/v3/customers')).rows;
    await waitFor('the summary of a later customer', listCustomers, (rows: Json[]) =>
      rows.some(({ applicationUsername: name, customerInfo }) => name === 'bob' && customerInfo.activeSubscriber),
    );
    await waitFor('the webhook of a later customer', () => webhooks.some((line) => line.includes('bob')));
    const failures = await waitForFailures(3);
    expect(failures).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ worker: 'fan-out-webhooks', app: appName, item: `${partition.pk} P` }),
        expect.objectContaining({ worker: 'aggregate-statistics', reason: 'transaction: expected an object.' }),
      ]),
    );

    const early = await run('webhooks', 'stream-failures', 'replay');
    expect(early).toMatchObject({ code: 3, data: { replayed: 0 } });
    await put(renewal);
    await put(payment);
    await waitForFailures(6);
    const isRenewed = () => webhooks.some((line) => line.includes('RENEWED') && line.includes('eve'));
    expect(isRenewed()).toBe(false);
    // A record can fail in two batches, which is replayed twice.
    const replay = await run('webhooks', 'stream-failures', 'replay');
    expect(replay).toMatchObject({ code: 0, data: { remaining: [] } });
    expect(replay.data.replayed).toBeGreaterThanOrEqual(6);
    await waitFor('the webhook of the correction', isRenewed);
    // A batch that is repeated late reports a record again.
    await waitFor('the end of the failures', async () => {
      await run('webhooks', 'stream-failures', 'replay');
      return (await listFailures()).length === 0;
    });
    const day = new Date(transaction.transaction.purchaseDate).toISOString().slice(0, 10);
    // The planted payment has the figures of the payment from which it was copied.
    expect(await run('stats', 'recount', appName, '--from', day, '--to', day)).toMatchObject({
      code: 3,
      data: { differences: [], purchasesWithoutFigures: 1 },
    });
  });
});
