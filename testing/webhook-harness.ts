import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from 'aws-lambda';
import { createAppCache } from '../lib/apps/app-cache.ts';
import { createApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { createAppRepository } from '../lib/db/app-repository.ts';
import { createDeliveryRepository } from '../lib/db/delivery-repository.ts';
import { createEventRepository } from '../lib/db/event-repository.ts';
import { duePartitions, dueSortKeyLimit, parseDueItemKey, purchaseKey } from '../lib/db/keys.ts';
import { createPurchaseRepository } from '../lib/db/purchase-repository.ts';
import { parseStreamRecord } from '../lib/db/stream-record.ts';
import type { Table } from '../lib/db/table.ts';
import { type Deps, deps } from '../lib/deps.ts';
import { createRecordPurchase, type RecordPurchaseInput } from '../lib/purchases/record-purchase.ts';
import type { StreamRecord } from '../lib/shared/stream-record.ts';
import { fanOutDeliveries } from '../lib/webhooks/fan-out.ts';
import { createGuardedPost } from '../lib/webhooks/guarded-post.ts';
import { setWebhook } from '../lib/webhooks/manage-webhooks.ts';
import { sendWebhook } from '../lib/webhooks/send-webhook.ts';
import type { WebhookMessage } from '../lib/webhooks/webhook-message.ts';
import { createUniqueName, startDate, testCipher } from './given.ts';
import { createTestTable } from './table.ts';

/** Goes around every call to the outside, by its name. */
export type WrapCall = <T>(name: string, call: () => Promise<T>) => Promise<T>;

/** The webhook workers of one application on the real table, with a clock and a queue that a test moves. */
export interface WebhookHarness {
  readonly deps: Deps;
  readonly keys: IssuedApiKeys;
  readonly signingSecret: string;
  now: number;
  /** Timeout of a POST in real time. Generous by default; short if the server does not respond. */
  postTimeoutMs: number;
  /** What is on the queue. */
  readonly queue: { order: WebhookMessage; visibleAt: number }[];
  /** What happened to a purchase, as the stream shows it. */
  recordUpdate(purchaseId: string, happened: RecordPurchaseInput): Promise<StreamRecord>;
  /** Shows the records to the fan-out until it has taken them all. */
  fanOut(records: readonly StreamRecord[]): Promise<void>;
  /** Works until nothing is left to do before `until`: the queue's messages in time, the sweep every minute. */
  workUntil(until: number): Promise<void>;
}

interface HarnessOptions {
  readonly urls: readonly string[];
  readonly sandboxUrls?: readonly string[];
  readonly sendsPassword?: boolean;
  readonly around?: WrapCall;
  readonly allowsLoopback?: boolean;
}

export async function createWebhookHarness({
  around = (_name, call) => call(),
  ...wanted
}: HarnessOptions): Promise<WebhookHarness> {
  // Not the one of the other tests: what is due in it is gone through.
  const real = await createTestTable('claimcheck-test-webhooks');
  const table = aroundTable(real, around);
  const queue: WebhookHarness['queue'] = [];
  const world = { now: startDate, postTimeoutMs: 30_000, queue };
  const now = () => world.now;
  const apps = createAppRepository(table, testCipher);
  const purchases = createPurchaseRepository(table, testCipher);
  const tools: Deps = {
    ...deps(),
    now,
    table,
    apps,
    appCache: createAppCache(apps, now),
    purchases,
    recordPurchase: createRecordPurchase(purchases, deps().exchangeRates),
    events: createEventRepository(table, 90, now),
    deliveries: createDeliveryRepository(table),
    emulator: { url: 'http://127.0.0.1:1', roots: [] },
    postWebhook: async (request) =>
      await around('post', async () => {
        const options = { allowsLoopback: wanted.allowsLoopback ?? true, timeoutMs: world.postTimeoutMs };
        return await createGuardedPost(options)(request);
      }),
    webhookQueue: {
      send: async (orders, { delaySeconds = 0 } = {}) =>
        await around('send', async () => {
          for (const order of orders) queue.push({ order, visibleAt: world.now + delaySeconds * 1000 });
        }),
    },
  };
  const keys = await createApp(createAppRepository(real, testCipher), createUniqueName(), startDate);
  const settings = {
    urls: [...wanted.urls],
    sandboxUrls: [...(wanted.sandboxUrls ?? [])],
    includesPassword: wanted.sendsPassword ?? true,
  };
  const plain = { ...tools, apps: createAppRepository(real, testCipher), deliveries: createDeliveryRepository(real) };
  const signingSecret =
    wanted.urls.length > 0 ? ((await setWebhook(keys.appName, settings, { newSecret: false, deps: plain })) ?? '') : '';
  return Object.assign(world, {
    deps: tools,
    keys,
    signingSecret,
    recordUpdate: async (id: string, happened: RecordPurchaseInput) =>
      await toStreamRecord(real, keys.appName, { id, happened }),
    fanOut: async (records: readonly StreamRecord[]) => await fanOutRecords(records, tools),
    workUntil: async (until: number) => await workUntil(world, until, { tools, real, appName: keys.appName }),
  });
}

const tableMethods = ['get', 'query', 'batchGet', 'batchPut', 'update', 'transact'] as const;

function aroundTable(table: Table, around: WrapCall): Table {
  const wrapped = tableMethods.map((name) => {
    const method = table[name] as (argument: unknown) => Promise<unknown>;
    return [name, async (argument: unknown) => await around(name, async () => await method(argument))];
  });
  return { ...table, ...Object.fromEntries(wrapped) };
}

let records = 0;

async function toStreamRecord(
  table: Table,
  appName: string,
  { id, happened }: { id: string; happened: RecordPurchaseInput },
): Promise<StreamRecord> {
  const before = await readImage(table, appName, id);
  const recordPurchase = createRecordPurchase(createPurchaseRepository(table, testCipher), deps().exchangeRates);
  await recordPurchase(appName, id, happened);
  const after = await readImage(table, appName, id);
  return parseStreamRecord({
    eventName: before ? 'MODIFY' : 'INSERT',
    dynamodb: {
      Keys: { pk: { S: purchaseKey(appName, id).pk }, sk: { S: 'P' } },
      SequenceNumber: String(++records),
      ...(after && { NewImage: after }),
      ...(before && { OldImage: before }),
    },
  });
}

async function readImage({ name }: Table, appName: string, id: string) {
  const { pk, sk } = purchaseKey(appName, id);
  const command = new GetItemCommand({ TableName: name, Key: { pk: { S: pk }, sk: { S: sk } }, ConsistentRead: true });
  return (await new DynamoDBClient({}).send(command)).Item as Record<string, AttributeValue> | undefined;
}

async function fanOutRecords(records: readonly StreamRecord[], tools: Deps): Promise<void> {
  let rest = records;
  for (let attempt = 0; rest.length > 0; attempt++) {
    if (attempt > 20) throw new Error('the fan-out never takes its records');
    const failedSequenceNumber = await fanOutDeliveries(rest, tools);
    const first = rest.findIndex(({ sequenceNumber }) => sequenceNumber === failedSequenceNumber);
    rest = first === -1 ? [] : rest.slice(first);
  }
}

const visibilityMs = 180_000;
const minute = 60_000;

async function workUntil(
  world: Pick<WebhookHarness, 'now' | 'queue'>,
  until: number,
  { tools, real, appName }: { tools: Deps; real: Table; appName: string },
): Promise<void> {
  for (;;) {
    const next = world.queue.toSorted((a, b) => a.visibleAt - b.visibleAt)[0];
    const due = await findNextDue(real, appName);
    const sweepAt =
      due === undefined ? Number.POSITIVE_INFINITY : Math.max(world.now, Math.ceil(due.at / minute) * minute);
    if (Math.min(next?.visibleAt ?? Number.POSITIVE_INFINITY, sweepAt) > until) break;
    if (next && next.visibleAt <= sweepAt) {
      world.now = Math.max(world.now, next.visibleAt);
      await sendWebhook(next.order, tools).then(
        () => void world.queue.splice(world.queue.indexOf(next), 1),
        () => void Object.assign(next, { visibleAt: world.now + visibilityMs }),
      );
    } else if (due) {
      world.now = Math.max(world.now, sweepAt);
      await sendWebhook({ appName, deliveryId: due.deliveryId }, tools).catch(() => (world.now += 10 * minute));
    }
  }
  world.now = Math.max(world.now, until);
}

/** What the sweep finds next; the index is of all applications, and only this one's are looked at. */
async function findNextDue(table: Table, appName: string): Promise<{ at: number; deliveryId: string } | undefined> {
  const before = dueSortKeyLimit(Date.parse('2100-01-01'));
  const pages = duePartitions.map(async (partition) => await table.query({ partition, index: 'due', before }));
  const own = (await Promise.all(pages)).flat().filter(({ pk }) => String(pk).startsWith(`${appName}#D#`));
  const [first] = own
    .map(({ dueSk, pk, sk }) => ({ at: Number(String(dueSk).split('#')[0]), pk, sk }))
    .sort((a, b) => a.at - b.at);
  const due = first && parseDueItemKey({ pk: String(first.pk), sk: String(first.sk) });
  return first && due?.kind === 'delivery' ? { at: first.at, deliveryId: due.deliveryId } : undefined;
}
