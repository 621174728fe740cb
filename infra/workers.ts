import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { FilterCriteria, type Function as LambdaFunction, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Construct } from 'constructs';
import { buildEnvironment, grantPermissions, type Permission, type SharedResources } from './permissions.ts';
import type { QueueName } from './queues.ts';
import { ServiceFunction } from './service-function.ts';

/** What makes a worker work. */
type WorkerTrigger =
  | { readonly queue: QueueName }
  /** Records of the table whose image fits one of the patterns. */
  | {
      readonly streamPatterns: readonly object[];
      readonly tumblingWindow?: Duration;
      readonly batchingWindow?: Duration;
    }
  | { readonly schedule: Duration };

interface WorkerDefinition {
  /** Its file in functions/workers. */
  readonly id: string;
  readonly summary: string;
  readonly source: WorkerTrigger;
  readonly permissions: readonly Permission[];
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** Every worker. A queue shows a message again after six times its worker's time: see queues.ts. */
export const workers: readonly WorkerDefinition[] = [
  {
    id: 'process-notification',
    summary: 'Takes in what stores tell',
    source: { queue: 'notifications' },
    permissions: ['write', 'stores', 'notifications'],
    timeoutSeconds: 60,
    memoryMb: 1024,
  },
  {
    id: 'refresh-purchase',
    summary: 'Asks the stores for purchases whose time has come',
    source: { queue: 'refreshes' },
    permissions: ['write', 'stores'],
    timeoutSeconds: 60,
    memoryMb: 1024,
  },
  {
    id: 'fan-out-webhooks',
    summary: 'Prepares the webhooks of what purchases announce',
    source: { streamPatterns: [{ eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { sk: { S: ['P'] } } } }] },
    permissions: ['write', 'webhooks'],
    timeoutSeconds: 60,
    memoryMb: 512,
  },
  {
    id: 'send-webhook',
    summary: "Sends webhooks to the applications' servers",
    source: { queue: 'webhooks' },
    permissions: ['write', 'webhooks', 'secrets'],
    timeoutSeconds: 30,
    memoryMb: 512,
  },
  {
    id: 'enqueue-due-items',
    summary: 'Sends on what is due',
    source: { schedule: Duration.minutes(1) },
    permissions: ['write', 'due', 'refreshes', 'webhooks'],
    timeoutSeconds: 55,
    memoryMb: 512,
  },
  {
    id: 'recover-notifications',
    summary: 'Asks the stores what they could not deliver',
    source: { schedule: Duration.hours(1) },
    permissions: ['write', 'stores', 'indexes', 'notifications'],
    timeoutSeconds: 900,
    memoryMb: 1024,
  },
  {
    id: 'poll-notifications',
    summary: 'Takes what stores hold ready instead of sending it',
    source: { schedule: Duration.minutes(5) },
    permissions: ['write', 'stores', 'indexes', 'notifications'],
    timeoutSeconds: 280,
    memoryMb: 512,
  },
  {
    id: 'aggregate-statistics',
    summary: 'Counts what changes: statistics, lengths of lists, summaries of customers',
    source: {
      streamPatterns: [
        { dynamodb: { Keys: { sk: { S: ['P', 'C', 'E', { prefix: 'T#' }, { prefix: 'N#' }] } } } },
        { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: ['F'] } } } },
      ],
      // For the shard's name, which only the events of windows carry.
      tumblingWindow: Duration.minutes(1),
      batchingWindow: Duration.seconds(1),
    },
    permissions: ['write'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
  {
    id: 'load-exchange-rates',
    summary: "Keeps the central bank's daily reference rates",
    source: { schedule: Duration.hours(6) },
    permissions: ['write', 'stores'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
];

/** Instances of a queue's worker: a flood in the background must leave the account's concurrency to the buyers. */
const maxConcurrency = 50;

/** The functions that nobody calls over HTTP, with what calls them. */
export class Workers extends Construct {
  /** By worker id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;

  constructor(scope: Construct, id: string, resources: SharedResources) {
    super(scope, id);
    this.functions = new Map(workers.map((worker) => [worker.id, this.createFunction(worker, resources)]));
  }

  private createFunction(worker: WorkerDefinition, resources: SharedResources): LambdaFunction {
    const { id, summary, permissions, timeoutSeconds, memoryMb } = worker;
    const { handler } = new ServiceFunction(this, id, {
      handler: `workers/${id}.handler`,
      description: summary,
      timeoutSeconds,
      memoryMb,
      environment: buildEnvironment(permissions, resources),
      // The next run of a schedule is its second try.
      ...('schedule' in worker.source && { retryAttempts: 0 }),
    });
    grantPermissions(handler, permissions, resources);
    this.addTrigger(worker, handler, resources);
    return handler;
  }

  private addTrigger(
    { id, source }: WorkerDefinition,
    handler: LambdaFunction,
    { table, queues }: SharedResources,
  ): void {
    if ('queue' in source) {
      const options = { batchSize: 10, reportBatchItemFailures: true, maxConcurrency };
      handler.addEventSource(new SqsEventSource(queues.queues[source.queue].queue, options));
    } else if ('streamPatterns' in source) {
      handler.addEventSource(new DynamoEventSource(table as ITable, buildStreamOptions(source, queues.streamFailures)));
    } else {
      new Rule(this, `${id}-schedule`, {
        schedule: Schedule.rate(source.schedule),
        targets: [new FunctionTarget(handler)],
      });
    }
  }
}

/**
 * A batch that fails is cut in two, tried again, and set aside in the end: it must not block the records behind it for good.
 * Only the age says when that is: how soon Lambda tries again, and so how long a number of retries lasts, is not promised.
 * Half a day outlasts a night's outage, and leaves as long until the stream forgets what was set aside.
 */
const buildStreamOptions = (
  {
    streamPatterns,
    tumblingWindow,
    batchingWindow,
  }: Extract<WorkerTrigger, { readonly streamPatterns: readonly object[] }>,
  failures: SharedResources['queues']['streamFailures'],
) => ({
  startingPosition: StartingPosition.TRIM_HORIZON,
  batchSize: 100,
  bisectBatchOnError: true,
  reportBatchItemFailures: true,
  // The most that there can be.
  retryAttempts: 10_000,
  maxRecordAge: Duration.hours(12),
  onFailure: new SqsDlq(failures),
  filters: streamPatterns.map((pattern) => FilterCriteria.filter(pattern as Record<string, unknown>)),
  ...(tumblingWindow && { tumblingWindow }),
  ...(batchingWindow && { maxBatchingWindow: batchingWindow }),
});
