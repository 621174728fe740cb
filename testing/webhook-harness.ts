import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { AttributeValue } from 'aws-lambda';
import { createApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import type { ForwardMessage } from '../lib/forwards/forward-message.ts';
import { sendForward } from '../lib/forwards/send-forward.ts';
import { parseDueItemKey, purchaseKey } from '../lib/foundation/keys.ts';
import { createGuardedPost } from '../lib/foundation/outgoing/guarded-post.ts';
import type { Service } from '../lib/foundation/service.ts';
import type { StreamRecord } from '../lib/foundation/stream-record.ts';
import type { Table } from '../lib/foundation/table.ts';
import { minuteMs, secondMs } from '../lib/foundation/time.ts';
import type { RecordPurchaseInput } from '../lib/purchases/prepare-update.ts';
import { recordPurchase } from '../lib/purchases/record-purchase.ts';
import { parseStreamRecord } from '../lib/purchases/stream-record.ts';
import type { WebhookDelivery } from '../lib/webhooks/delivery.ts';
import { enqueueReplays } from '../lib/webhooks/enqueue-replays.ts';
import { fanOutDeliveries } from '../lib/webhooks/fan-out.ts';
import { listDeliveryPage } from '../lib/webhooks/list-deliveries.ts';
import { saveWebhook } from '../lib/webhooks/manage-webhooks.ts';
import { sendWebhook } from '../lib/webhooks/send-webhook.ts';
import type { WebhookMessage } from '../lib/webhooks/webhook-message.ts';
import { createService } from './create-service.ts';
import { createUniqueName, startDate } from './given.ts';
import { createTestTable } from './table.ts';

/** Wraps a network call. `name` is the method of the table, `send` for the queue or `post` for a webhook. */
export type WrapCall = <T>(name: string, call: () => Promise<T>) => Promise<T>;

/** A message on the queue, invisible until `visibleAt` (epoch milliseconds). */
interface QueuedWebhook {
  readonly message: WebhookMessage;
  /** Set if the message is on the queue of forwards. */
  readonly forward?: ForwardMessage;
  visibleAt: number;
}

/** The webhook workers of one app on a table engine, with a clock and a queue that the test controls. */
export interface WebhookHarness {
  readonly service: Service;
  readonly keys: IssuedApiKeys;
  /** `whsec_…`; empty without webhook URLs. */
  readonly signingSecret: string;
  /** Epoch milliseconds; starts at `startDate`. */
  now: number;
  readonly queue: QueuedWebhook[];
  /** Timeout of one webhook request in real time. Lower it only while the app's server hangs. */
  postTimeoutMs: number;
  /** Records an update of a purchase and returns its stream record. */
  recordUpdate(purchaseId: string, update: RecordPurchaseInput): Promise<StreamRecord>;
  /** Passes the records to the fan-out worker until it has processed all of them. */
  fanOut(records: readonly StreamRecord[]): Promise<void>;
  /**
   * Advances the clock to `until` and processes the queue's messages and the due retries in the order of their times.
   */
  workUntil(until: number): Promise<void>;
}

interface HarnessOptions {
  readonly urls: readonly string[];
  readonly sandboxUrls?: readonly string[];
  readonly sendsPassword?: boolean;
  readonly around?: WrapCall;
  readonly allowsLoopback?: boolean;
}

type Clock = Pick<WebhookHarness, 'now' | 'queue' | 'postTimeoutMs'>;

let documents: DynamoDBDocumentClient | undefined;

export async function createWebhookHarness(options: HarnessOptions): Promise<WebhookHarness> {
  // Its own table, because the harness reads the due items of all apps.
  const table = await createTestTable('claimcheck-test-webhooks');
  const state: Clock = { now: startDate, queue: [], postTimeoutMs: 30 * secondMs };
  const harnessService = createHarnessService(table, state, options);
  const keys = await createApp(createService(table), createUniqueName(), startDate);
  const settings = {
    urls: [...options.urls],
    sandboxUrls: [...(options.sandboxUrls ?? [])],
    includesPassword: options.sendsPassword ?? true,
  };
  const signingSecret =
    options.urls.length > 0
      ? await saveWebhook({ ...harnessService, table }, keys.appName, settings, { newSecret: false })
      : undefined;
  const createStreamRecord = createStreamRecorder(table, keys.appName);
  return Object.assign(state, {
    service: harnessService,
    keys,
    signingSecret: signingSecret ?? '',
    recordUpdate: createStreamRecord,
    fanOut: async (records: readonly StreamRecord[]) => await fanOutRecords(harnessService, records),
    workUntil: async (until: number) =>
      await workUntil(state, until, { service: harnessService, table, appName: keys.appName }),
  });
}

function createHarnessService(table: Table, state: Clock, options: HarnessOptions): Service {
  const { around = (_name, call) => call(), allowsLoopback = true } = options;
  return createService(wrapTable(table, around), {
    now: () => state.now,
    emulator: { url: 'http://127.0.0.1:1', roots: [] },
    postWebhook: async (request) => {
      const post = createGuardedPost({ allowsLoopback, timeoutMs: state.postTimeoutMs });
      return await around('post', async () => await post(request));
    },
    forwardQueue: {
      send: async (messages, { delaySeconds = 0 } = {}) => {
        const visibleAt = state.now + delaySeconds * secondMs;
        const forwards = messages as readonly ForwardMessage[];
        const { appName = '' } = forwards[0] ?? {};
        state.queue.push(...forwards.map((forward) => ({ forward, message: { appName, deliveryId: '' }, visibleAt })));
      },
    },
    webhookQueue: {
      send: async (messages, { delaySeconds = 0 } = {}) =>
        await around('send', async () => {
          const visibleAt = state.now + delaySeconds * secondMs;
          state.queue.push(...(messages as readonly WebhookMessage[]).map((message) => ({ message, visibleAt })));
        }),
    },
  });
}

const tableMethods = ['get', 'query', 'batchGet', 'batchPut', 'update', 'delete', 'transact'] as const;

function wrapTable(table: Table, around: WrapCall): Table {
  const wrapped = tableMethods.map((name) => {
    const method = table[name] as (argument: unknown) => Promise<unknown>;
    return [name, async (argument: unknown) => await around(name, async () => await method(argument))];
  });
  return { ...table, ...Object.fromEntries(wrapped) };
}

function createStreamRecorder(table: Table, appName: string): WebhookHarness['recordUpdate'] {
  const service = createService(table);
  let sequenceNumber = 0;
  return async (purchaseId, update) => {
    const { pk, sk } = purchaseKey(appName, purchaseId);
    const imageBefore = await readImage(table, { pk, sk });
    await recordPurchase(service, appName, purchaseId, update);
    const imageAfter = await readImage(table, { pk, sk });
    return parseStreamRecord({
      eventName: imageBefore ? 'MODIFY' : 'INSERT',
      dynamodb: {
        Keys: { pk: { S: pk }, sk: { S: sk } },
        SequenceNumber: String(++sequenceNumber),
        ...(imageAfter && { NewImage: imageAfter }),
        ...(imageBefore && { OldImage: imageBefore }),
      },
    });
  };
}

async function readImage({ name }: Table, { pk, sk }: { readonly pk: string; readonly sk: string }) {
  const command = new GetItemCommand({ TableName: name, Key: { pk: { S: pk }, sk: { S: sk } }, ConsistentRead: true });
  return (await new DynamoDBClient({}).send(command)).Item as Record<string, AttributeValue> | undefined;
}

async function fanOutRecords(harnessService: Service, records: readonly StreamRecord[]): Promise<void> {
  let remaining = records;
  for (let attempt = 0; remaining.length > 0; attempt++) {
    if (attempt > 20) throw new Error(`The fan-out has not processed ${remaining.length} records after 20 attempts.`);
    const failedSequenceNumber = await fanOutDeliveries(harnessService, remaining);
    const first = remaining.findIndex(({ sequenceNumber }) => sequenceNumber === failedSequenceNumber);
    remaining = first === -1 ? [] : remaining.slice(first);
  }
}

/** A message that failed is visible again after this time. */
const visibilityTimeoutMs = 3 * minuteMs;

/** A due item is enqueued again after this time. */
const leaseMs = 10 * minuteMs;

async function workUntil(
  state: Clock,
  until: number,
  { service: harnessService, table, appName }: { service: Service; table: Table; appName: string },
): Promise<void> {
  for (;;) {
    const next = state.queue.toSorted((a, b) => a.visibleAt - b.visibleAt)[0];
    const due = await findNextDueDelivery(table, appName);
    // Due items are enqueued once a minute.
    const dueAt = due ? Math.max(state.now, Math.ceil(due.at / minuteMs) * minuteMs) : Number.POSITIVE_INFINITY;
    if (Math.min(next?.visibleAt ?? Number.POSITIVE_INFINITY, dueAt) > until) break;
    if (next && next.visibleAt <= dueAt) {
      state.now = Math.max(state.now, next.visibleAt);
      await sendQueued(harnessService, next).then(
        () => void state.queue.splice(state.queue.indexOf(next), 1),
        () => {
          next.visibleAt = state.now + visibilityTimeoutMs;
        },
      );
    } else if (due) {
      state.now = dueAt;
      await sendWebhook(harnessService, { appName, deliveryId: due.deliveryId }).catch(() => {
        state.now += leaseMs;
      });
    }
  }
  state.now = Math.max(state.now, until);
}

async function sendQueued(harnessService: Service, { message, forward }: QueuedWebhook): Promise<void> {
  if (!forward) return await sendWebhook(harnessService, message);
  await sendForward(harnessService, forward);
}

/** Lists the deliveries that are scheduled for a retry or dead, oldest first. */
export async function listDeliveries(
  service: Service,
  appName: string,
  state: 'pending' | 'dead' | undefined,
): Promise<WebhookDelivery[]> {
  const states = state ? [state] : (['pending', 'dead'] as const);
  const pages = await Promise.all(
    states.map(async (listed) => await listDeliveryPage(service, appName, { state: listed, limit: 1_000 })),
  );
  return pages.flatMap(({ rows }) => rows).sort((a, b) => a.createdAt - b.createdAt);
}

/** Replays the dead deliveries of the app one millisecond later. */
export async function replayDeadDeliveries(harness: WebhookHarness): Promise<number> {
  harness.now += 1;
  const range = { state: 'dead', startdate: 0, enddate: harness.now } as const;
  return (await enqueueReplays(harness.service, harness.keys.appName, range)).replayed;
}

/** Finds the next due delivery of the app, with one scan of the index instead of a query of each shard. */
async function findNextDueDelivery(
  { name: TableName }: Table,
  appName: string,
): Promise<{ at: number; deliveryId: string } | undefined> {
  documents ??= DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const input = {
    TableName,
    IndexName: 'due',
    FilterExpression: 'begins_with(pk, :deliveries)',
    ExpressionAttributeValues: { ':deliveries': `${appName}#D#` },
  };
  const due: { at: number; deliveryId: string }[] = [];
  for await (const { Items = [] } of paginateScan({ client: documents }, input))
    for (const { dueSk, pk, sk } of Items) {
      const item = parseDueItemKey({ pk, sk });
      if (item?.kind === 'delivery') due.push({ at: Number(dueSk.split('#')[0]), deliveryId: item.deliveryId });
    }
  return due.sort((a, b) => a.at - b.at)[0];
}
