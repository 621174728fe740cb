import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { FilterCriteria, type Function as LambdaFunction, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Construct } from 'constructs';
import { environmentOf, grant, type Need, type Resources } from './access.ts';
import { HouseFunction } from './house-function.ts';
import type { QueueName } from './queues.ts';

/** What makes a worker work. */
type Source =
  | { readonly queue: QueueName }
  /** Records of the table whose image fits one of the patterns. */
  | { readonly stream: readonly object[]; readonly window?: Duration; readonly waits?: Duration }
  | { readonly every: Duration };

interface Worker {
  /** Its file in functions/workers. */
  readonly id: string;
  readonly summary: string;
  readonly source: Source;
  readonly needs: readonly Need[];
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** Every worker. A queue shows a message again after six times its worker's time: see queues.ts. */
export const workers: readonly Worker[] = [
  {
    id: 'process-notification',
    summary: 'Takes in what stores tell',
    source: { queue: 'notifications' },
    needs: ['write', 'stores', 'notifications'],
    timeoutSeconds: 60,
    memoryMb: 1024,
  },
  {
    id: 'refresh-purchase',
    summary: 'Asks the stores for purchases whose time has come',
    source: { queue: 'refreshes' },
    needs: ['write', 'stores'],
    timeoutSeconds: 60,
    memoryMb: 1024,
  },
  {
    id: 'fan-out',
    summary: 'Prepares the webhooks of what purchases announce',
    source: { stream: [{ eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { sk: { S: ['P'] } } } }] },
    needs: ['write', 'webhooks'],
    timeoutSeconds: 60,
    memoryMb: 512,
  },
  {
    id: 'send-webhook',
    summary: "Sends webhooks to the applications' servers",
    source: { queue: 'webhooks' },
    needs: ['write', 'webhooks', 'secrets'],
    timeoutSeconds: 30,
    memoryMb: 512,
  },
  {
    id: 'sweep',
    summary: 'Sends on what is due',
    source: { every: Duration.minutes(1) },
    needs: ['write', 'due', 'refreshes', 'webhooks'],
    timeoutSeconds: 55,
    memoryMb: 512,
  },
  {
    id: 'reconcile',
    summary: 'Asks the stores what they could not deliver',
    source: { every: Duration.hours(1) },
    needs: ['write', 'stores', 'indexes', 'notifications'],
    timeoutSeconds: 900,
    memoryMb: 1024,
  },
  {
    id: 'collect',
    summary: 'Takes what stores hold ready instead of sending it',
    source: { every: Duration.minutes(5) },
    needs: ['write', 'stores', 'indexes', 'notifications'],
    timeoutSeconds: 280,
    memoryMb: 512,
  },
  {
    id: 'aggregate',
    summary: 'Counts what changes: statistics, lengths of lists, summaries of customers',
    source: {
      stream: [
        { dynamodb: { Keys: { sk: { S: ['P', 'C', 'E', { prefix: 'T#' }, { prefix: 'N#' }] } } } },
        { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: ['F'] } } } },
      ],
      // For the shard's name, which only the events of windows carry.
      window: Duration.minutes(1),
      waits: Duration.seconds(1),
    },
    needs: ['write'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
  {
    id: 'exchange-rates',
    summary: "Keeps the central bank's daily reference rates",
    source: { every: Duration.hours(6) },
    needs: ['write', 'stores'],
    timeoutSeconds: 120,
    memoryMb: 512,
  },
];

/** Instances of a queue's worker: a flood in the background must leave the account's concurrency to the buyers. */
const mostAtOnce = 50;

/** The functions that nobody calls over HTTP, with what calls them. */
export class Workers extends Construct {
  /** By worker id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;

  constructor(scope: Construct, id: string, resources: Resources) {
    super(scope, id);
    this.functions = new Map(workers.map((worker) => [worker.id, this.worker(worker, resources)]));
  }

  private worker(worker: Worker, resources: Resources): LambdaFunction {
    const { id, summary, needs, timeoutSeconds, memoryMb } = worker;
    const { handler } = new HouseFunction(this, id, {
      handler: `workers/${id}.handler`,
      description: summary,
      timeoutSeconds,
      memoryMb,
      environment: environmentOf(needs, resources),
      // The next run of a schedule is its second try.
      ...('every' in worker.source && { retryAttempts: 0 }),
    });
    grant(handler, needs, resources);
    this.connect(worker, handler, resources);
    return handler;
  }

  private connect({ id, source }: Worker, handler: LambdaFunction, { table, queues }: Resources): void {
    if ('queue' in source) {
      const options = { batchSize: 10, reportBatchItemFailures: true, maxConcurrency: mostAtOnce };
      handler.addEventSource(new SqsEventSource(queues.work[source.queue].queue, options));
    } else if ('stream' in source) {
      handler.addEventSource(new DynamoEventSource(table as ITable, streamOptions(source, queues.streamFailures)));
    } else {
      new Rule(this, `${id}-schedule`, {
        schedule: Schedule.rate(source.every),
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
const streamOptions = (
  { stream, window, waits }: Extract<Source, { readonly stream: readonly object[] }>,
  failures: Resources['queues']['streamFailures'],
) => ({
  startingPosition: StartingPosition.TRIM_HORIZON,
  batchSize: 100,
  bisectBatchOnError: true,
  reportBatchItemFailures: true,
  // The most that there can be.
  retryAttempts: 10_000,
  maxRecordAge: Duration.hours(12),
  onFailure: new SqsDlq(failures),
  filters: stream.map((pattern) => FilterCriteria.filter(pattern as Record<string, unknown>)),
  ...(window && { tumblingWindow: window }),
  ...(waits && { maxBatchingWindow: waits }),
});
