import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { indexes, tableKey } from '../../lib/db/keys.ts';
import type { LocalService } from '../../local/start-local.ts';
import { callLocalControl, callLocalService, type Json, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

const output: string[] = [];
const webhooks: string[] = [];
let service: LocalService;
beforeAll(async () => {
  service = await startLocalService({ log: (text) => output.push(text), onWebhook: (line) => webhooks.push(line) });
});
afterAll(async () => await service?.close());

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

/** Objects with an entry for each counter, shard or tag in place of members. */
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
  it('can be validated, listed, refreshed and announced by this release, which a rollback deploys', async () => {
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
