import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import {
  type CfnEventSourceMapping,
  EventSourceMapping,
  FilterCriteria,
  type IEventSource,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Construct } from 'constructs';
import {
  buildEnvironment,
  grantPermissions,
  type Permission,
  type SharedResources,
  type WrittenKeys,
} from './permissions.ts';
import type { QueueName } from './queues.ts';
import { ServiceFunction } from './service-function.ts';

/** Source of a worker's invocations. */
type WorkerTrigger =
  | { readonly queue: QueueName }
  /** Stream records that match one of the patterns. */
  | {
      readonly streamPatterns: readonly object[];
      readonly tumblingWindow?: Duration;
      readonly batchingWindow?: Duration;
      /** Default: 100. */
      readonly batchSize?: number;
    }
  | { readonly schedule: Duration };

interface WorkerDefinition {
  /** Its file in functions/workers. */
  readonly id: string;
  readonly summary: string;
  readonly source: WorkerTrigger;
  readonly permissions: readonly Permission[];
  /** Patterns of the partition keys of the items that it writes. Default: all items except apps and their settings. */
  readonly writtenKeys?: WrittenKeys;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** Partition keys of webhook deliveries. */
const deliveryKeys = '*#D#*';

/**
 * Stream records of the items that statistics count: purchases, customers, events (two keys), transactions,
 * notifications.
 */
const countedItems = {
  dynamodb: { Keys: { sk: { S: ['P', 'C', 'E', { prefix: 'E#' }, { prefix: 'T#' }, { prefix: 'N#' }] } } },
};
/**
 * Stream records whose user is not DynamoDB. Expired items stay counted, and every event expires. `exists` matches leaf
 * values only.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
 */
const notDeletedByTtl = { userIdentity: { principalId: [{ exists: false }] } };

/** All workers. AWS recommends a visibility timeout of six times the worker's timeout: see queues.ts. */
export const workers: readonly WorkerDefinition[] = [
  {
    id: 'process-notification',
    summary: 'Process store notifications',
    source: { queue: 'notifications' },
    permissions: ['write', 'stores', 'notifications'],
    timeoutSeconds: 60,
    memoryMb: 512,
  },
  {
    id: 'refresh-purchase',
    summary: 'Refresh due purchases',
    source: { queue: 'refreshes' },
    permissions: ['write', 'stores'],
    timeoutSeconds: 60,
    memoryMb: 512,
  },
  {
    id: 'fan-out-webhooks',
    summary: 'Create and enqueue webhook deliveries for announcements',
    source: { streamPatterns: [{ eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { sk: { S: ['P'] } } } }] },
    permissions: ['write', 'webhooks'],
    writtenKeys: [deliveryKeys],
    timeoutSeconds: 60,
    memoryMb: 512,
  },
  {
    id: 'send-webhook',
    summary: 'Send webhooks to app servers',
    source: { queue: 'webhooks' },
    permissions: ['write', 'webhooks', 'secrets'],
    writtenKeys: [deliveryKeys, '*#H#*'],
    timeoutSeconds: 30,
    memoryMb: 512,
  },
  {
    id: 'enqueue-due-items',
    summary: 'Enqueue due refreshes and webhook retries',
    source: { schedule: Duration.minutes(1) },
    permissions: ['write', 'due', 'refreshes', 'webhooks'],
    writtenKeys: ['*#P#*', deliveryKeys],
    timeoutSeconds: 55,
    // One vCPU: its rate limits the refreshes and retries of all apps. See `npm run bench scale`.
    memoryMb: 1_769,
  },
  {
    id: 'recover-notifications',
    summary: 'Recover undelivered store notifications',
    source: { schedule: Duration.hours(1) },
    permissions: ['write', 'stores', 'indexes', 'notifications'],
    timeoutSeconds: 900,
    memoryMb: 1024,
  },
  {
    id: 'poll-notifications',
    summary: 'Poll the stores that do not push notifications',
    source: { schedule: Duration.minutes(5) },
    permissions: ['write', 'stores', 'indexes', 'notifications'],
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
        { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: ['F'] } } } },
      ],
      // Lambda passes the shard id only with a tumbling window.
      tumblingWindow: Duration.minutes(1),
      // Each counter is written once per batch, so the cost of a record falls with the size of the batch. Statistics
      // are complete after the window.
      batchingWindow: Duration.seconds(10),
      batchSize: 1_000,
    },
    permissions: ['write'],
    writtenKeys: ['*#S', '*#Q#*', '*#C#*', '*#F#*'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
  {
    id: 'load-exchange-rates',
    summary: "Load the European Central Bank's daily reference rates",
    source: { schedule: Duration.hours(6) },
    permissions: ['write', 'stores'],
    writtenKeys: ['FX'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
];

/** Maximum instances of a queue's worker, so that a backlog leaves concurrency of the account to API requests. */
export const defaultMaxConcurrency = 50;

interface WorkersProps extends SharedResources {
  /** Maximum instances of each queue worker. Default: 50. */
  readonly maxConcurrency?: number;
}

/** The functions that run on queues, streams and schedules. */
export class Workers extends Construct {
  /** Functions by worker id. */
  readonly functions: ReadonlyMap<string, ServiceFunction>;

  constructor(scope: Construct, id: string, resources: WorkersProps) {
    super(scope, id);
    this.functions = new Map(workers.map((worker) => [worker.id, this.createFunction(worker, resources)]));
  }

  private createFunction(worker: WorkerDefinition, resources: WorkersProps): ServiceFunction {
    const { id, summary, permissions, writtenKeys, timeoutSeconds, memoryMb } = worker;
    const serviceFunction = new ServiceFunction(this, id, {
      bundle: `workers/${id}`,
      description: summary,
      timeoutSeconds,
      memoryMb,
      environment: buildEnvironment(permissions, resources),
      // The next scheduled run is the retry.
      ...('schedule' in worker.source && { retryAttempts: 0 }),
      allowsRecursion: sendsToOwnQueue(worker),
      readsStream: 'streamPatterns' in worker.source,
      hasAlias: resources.hasAliases,
    });
    grantPermissions(serviceFunction.handler, permissions, { ...resources, ...(writtenKeys && { writtenKeys }) });
    this.addTrigger(worker, serviceFunction, resources);
    return serviceFunction;
  }

  private addTrigger(
    { id, source }: WorkerDefinition,
    serviceFunction: ServiceFunction,
    { table, queues, maxConcurrency = defaultMaxConcurrency }: WorkersProps,
  ): void {
    if ('queue' in source) {
      const options = { batchSize: 10, reportBatchItemFailures: true, maxConcurrency };
      addEventSource(serviceFunction, new SqsEventSource(queues.queues[source.queue].queue, options));
    } else if ('streamPatterns' in source) {
      addEventSource(serviceFunction, new DynamoEventSource(table, buildStreamOptions(source, queues.streamFailures)));
    } else {
      new Rule(this, `${id}-schedule`, {
        schedule: Schedule.rate(source.schedule),
        // A run that waits longer than its schedule is repeated by the next one.
        targets: [
          new FunctionTarget(serviceFunction.target, {
            maxEventAge: getMaxEventAge(source.schedule),
            retryAttempts: 0,
          }),
        ],
      });
    }
  }
}

/**
 * Adds an event source that invokes the target of the function. The mapping is a resource of the function in either
 * case, because a new mapping of a stream would read its 24 hours again.
 */
function addEventSource({ handler, alias }: ServiceFunction, source: IEventSource): void {
  handler.addEventSource(source);
  if (alias === undefined) return;
  for (const mapping of handler.node.children.filter((child) => child instanceof EventSourceMapping))
    (mapping.node.defaultChild as CfnEventSourceMapping).functionName = alias.functionArn;
}

/**
 * Whether the worker sends messages to the queue that invokes it, to wait longer than a visibility timeout. Lambda
 * drops such a chain of invocations after about 16 unless the function allows it. Each message has its own limit in
 * time.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const sendsToOwnQueue = ({ source, permissions }: WorkerDefinition): boolean =>
  'queue' in source && permissions.includes(source.queue);

/** EventBridge accepts 60 seconds to 24 hours. */
const getMaxEventAge = (schedule: Duration): Duration =>
  Duration.seconds(Math.min(Math.max(schedule.toSeconds(), 60), Duration.hours(24).toSeconds()));

/**
 * Builds the options of a stream: a failed batch is bisected, retried and finally moved to the failure queue. Retries
 * end by age, because Lambda does not document its backoff. 12 h cover an overnight outage and leave 12 h of the
 * stream's 24 h retention for replaying failed records.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
 */
const buildStreamOptions = (
  {
    streamPatterns,
    tumblingWindow,
    batchingWindow,
    batchSize = 100,
  }: Extract<WorkerTrigger, { readonly streamPatterns: readonly object[] }>,
  failures: SharedResources['queues']['streamFailures'],
) => ({
  startingPosition: StartingPosition.TRIM_HORIZON,
  batchSize,
  bisectBatchOnError: true,
  reportBatchItemFailures: true,
  // The maximum that Lambda accepts.
  retryAttempts: 10_000,
  maxRecordAge: Duration.hours(12),
  onFailure: new SqsDlq(failures),
  filters: streamPatterns.map((pattern) => FilterCriteria.filter(pattern as Record<string, unknown>)),
  ...(tumblingWindow && { tumblingWindow }),
  ...(batchingWindow && { maxBatchingWindow: batchingWindow }),
});
