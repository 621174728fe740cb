import { announcedEntryTypes } from '../lib/credits/contract.ts';
import type { Permission } from './permissions.ts';
import type { QueueName } from './queues.ts';
import { itemKeys, type WrittenKeys } from './written-keys.ts';

/** Source of a worker's invocations. */
type WorkerTrigger =
  | { readonly queue: QueueName }
  /** Stream records that match one of the patterns. */
  | {
      readonly streamPatterns: readonly object[];
      readonly tumblingWindowSeconds?: number;
      readonly batchingWindowSeconds?: number;
      /** Default: 100. */
      readonly batchSize?: number;
    }
  | { readonly everyMinutes: number };

export interface WorkerDefinition {
  /** Its file in functions/workers. */
  readonly id: string;
  readonly summary: string;
  readonly source: WorkerTrigger;
  readonly permissions: readonly Permission[];
  /** Keys of the items that it writes besides events and the activity of stores. */
  readonly writtenKeys: WrittenKeys;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** Partition keys of webhook deliveries. */
const deliveryKeys = '*#D#*';

/** Partition keys of handled and enqueued store notifications. */
const notificationKeys = '*#K#*';

/**
 * Stream records of the items that statistics count: purchases, customers, events (two keys), transactions,
 * notifications, and changes of credits, whose keys begin like the keys of events.
 */
const countedItems = {
  dynamodb: { Keys: { sk: { S: ['P', 'C', 'E', { prefix: 'E#' }, { prefix: 'T#' }, { prefix: 'N#' }] } } },
};
/** Markers of the stream, which are written each minute: a worker that receives none has no stream. */
const streamMarkers = { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: ['F'] } } } };

/**
 * Stream records whose user is not DynamoDB. Expired items stay counted, and every event expires. `exists` matches leaf
 * values only.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
 */
const notDeletedByTtl = { userIdentity: { principalId: [{ exists: false }] } };

/**
 * Images of items that can have an announcement. Most checks, refreshes and leases of purchases do not.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.Lambda.Tutorial2.html
 * @see https://github.com/localstack/localstack/issues/10325
 */
const announcing = { isUnannounced: { BOOL: [{ exists: false }] } };

/** Entries of credits that a webhook can announce: neither the app's own spends nor refused requests. */
const announcedCreditEntries = {
  Keys: { sk: { S: [{ prefix: 'E#P#' }, { prefix: 'E#S#' }] } },
  NewImage: { type: { S: announcedEntryTypes }, isRefused: { BOOL: [{ exists: false }] } },
};

/** The workers of every stack. AWS recommends a visibility timeout of six times the worker's timeout: see queues.ts. */
export const workers: readonly WorkerDefinition[] = [
  {
    id: 'process-notification',
    summary: 'Process store notifications',
    source: { queue: 'notifications' },
    // The index finds the customers of a store account.
    permissions: ['write', 'stores', 'userIndex', 'notifications'],
    writtenKeys: [
      notificationKeys,
      ...itemKeys.purchases,
      ...itemKeys.refundRequests,
      ...itemKeys.priceLists,
      ...itemKeys.deliveries,
    ],
    timeoutSeconds: 60,
    memoryMb: 256,
  },
  {
    id: 'refresh-purchase',
    summary: 'Refresh due purchases, and send due statements about refunds',
    source: { queue: 'refreshes' },
    permissions: ['write', 'stores'],
    writtenKeys: [...itemKeys.purchases, ...itemKeys.refundRequests],
    timeoutSeconds: 60,
    memoryMb: 256,
  },
  {
    id: 'fan-out-webhooks',
    summary: 'Settle the credits of purchases, and create and enqueue webhook deliveries',
    source: {
      streamPatterns: [
        {
          eventName: ['INSERT', 'MODIFY'],
          dynamodb: { Keys: { sk: { S: ['P', { prefix: 'G#' }, { prefix: 'Z#' }] } }, NewImage: announcing },
        },
        {
          eventName: ['INSERT', 'MODIFY'],
          dynamodb: { Keys: { sk: { S: ['P'] } }, NewImage: { givesCredits: { BOOL: [true] } } },
        },
        { eventName: ['INSERT'], dynamodb: announcedCreditEntries },
        streamMarkers,
      ],
    },
    permissions: ['write', 'webhooks'],
    writtenKeys: [deliveryKeys, ...itemKeys.credits],
    timeoutSeconds: 60,
    memoryMb: 512,
  },
  {
    id: 'send-webhook',
    summary: 'Send webhooks to app servers',
    source: { queue: 'webhooks' },
    permissions: ['write', 'webhooks', 'forwards', 'secrets', 'indexes'],
    writtenKeys: itemKeys.deliveries,
    timeoutSeconds: 30,
    memoryMb: 256,
  },
  {
    id: 'send-forward',
    summary: 'Send store notifications on to other servers',
    source: { queue: 'forwards' },
    permissions: ['write', 'forwards', 'secrets'],
    writtenKeys: itemKeys.deliveries,
    timeoutSeconds: 30,
    memoryMb: 512,
  },
  {
    id: 'enqueue-due-items',
    summary:
      'Enqueue due refreshes, webhook retries and refund requests, announce the ends of grants and credits, probe the statistics',
    source: { everyMinutes: 1 },
    permissions: ['write', 'due', 'refreshes', 'webhooks'],
    writtenKeys: ['*#P#*', '*#C#*', '*#R#*', deliveryKeys, '*#F#*', '_STATS'],
    timeoutSeconds: 55,
    // One vCPU: its rate limits the refreshes and retries of all apps. See `npm run bench scale`.
    memoryMb: 1_769,
  },
  {
    id: 'recover-notifications',
    summary: 'Recover undelivered store notifications, and report the stores that stopped sending them',
    source: { everyMinutes: 60 },
    permissions: ['write', 'stores', 'indexes', 'notifications'],
    writtenKeys: [notificationKeys],
    timeoutSeconds: 900,
    memoryMb: 1024,
  },
  {
    id: 'poll-notifications',
    summary: 'Poll the stores that do not push notifications',
    source: { everyMinutes: 5 },
    permissions: ['write', 'stores', 'indexes', 'notifications'],
    writtenKeys: [notificationKeys],
    timeoutSeconds: 280,
    memoryMb: 512,
  },
  {
    id: 'aggregate-statistics',
    summary: 'Aggregate statistics, list totals and customer summaries',
    source: {
      streamPatterns: [
        { eventName: ['INSERT', 'MODIFY'], ...countedItems },
        { eventName: ['REMOVE'], ...countedItems, ...notDeletedByTtl },
        streamMarkers,
      ],
      // Lambda passes the shard id only with a tumbling window.
      tumblingWindowSeconds: 60,
      // Each counter is written once per batch, so the cost of a record falls with the size of the batch. Statistics
      // are complete after the window.
      batchingWindowSeconds: 10,
      batchSize: 1_000,
    },
    permissions: ['write'],
    writtenKeys: ['*#S', '*#Q#*', '*#Z#*', '*#B#*', '*#C#*', '*#F#*'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
  {
    id: 'send-alerts',
    summary: 'Send the start and the end of problems to the alert URLs of apps',
    source: { everyMinutes: 1 },
    permissions: ['write', 'indexes', 'due', 'streamFailures'],
    writtenKeys: ['*#T'],
    timeoutSeconds: 55,
    memoryMb: 256,
  },
  {
    id: 'load-exchange-rates',
    summary: "Load the European Central Bank's daily reference rates",
    source: { everyMinutes: 360 },
    permissions: ['write', 'stores'],
    writtenKeys: ['FX'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
];

/** The worker of scheduled exports. A stack has it with the option `exportLocations` only. */
export const exportWorker: WorkerDefinition = {
  id: 'export-apps',
  summary: 'Export apps to Amazon S3 by their schedules',
  source: { everyMinutes: 15 },
  permissions: ['write', 'indexes'],
  writtenKeys: ['*#W'],
  timeoutSeconds: 900,
  memoryMb: 1_769,
};

/** Returns the workers of a stack. */
export const selectWorkers = (exportLocations: readonly string[] = []): readonly WorkerDefinition[] =>
  exportLocations.length > 0 ? [...workers, exportWorker] : workers;

/** Maximum instances of a queue's worker, so that a backlog leaves concurrency of the account to API requests. */
export const defaultMaxConcurrency = 50;

/**
 * The worker sends messages to the queue that invokes it, to wait longer than a visibility timeout. Lambda drops the
 * chain of invocations after about 16 unless the function allows it. Each message has its own limit in time.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const sendsToOwnQueue = ({ source, permissions }: WorkerDefinition): boolean =>
  'queue' in source && permissions.includes(source.queue);
