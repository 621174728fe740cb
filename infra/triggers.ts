import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { CfnEventInvokeConfig, CfnEventSourceMapping, CfnPermission } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { InvocationTarget } from './invocation-target.ts';
import type { Queues } from './queues.ts';
import { defaultMaxConcurrency, selectWorkers, type WorkerDefinition } from './worker-definitions.ts';

interface TriggersProps {
  /** Returns what invokes the function of a worker. */
  readonly getTarget: (workerId: string) => InvocationTarget;
  readonly table: ITable;
  readonly queues: Queues;
  /** Maximum instances of each queue worker. Default: 50. */
  readonly maxConcurrency?: number;
  readonly exportLocations?: readonly string[];
}

type Source<K extends string> = Extract<WorkerDefinition['source'], Readonly<Record<K, unknown>>>;

/**
 * The mappings and schedules that invoke the workers. They are resources of the stack with the data and not of the
 * workers' stack, because a mapping holds the position in the stream: a new mapping reads 24 hours again.
 */
export class Triggers extends Construct {
  constructor(scope: Construct, id: string, props: TriggersProps) {
    super(scope, id);
    for (const { id: workerId, source } of selectWorkers(props.exportLocations)) {
      const target = props.getTarget(workerId);
      if ('queue' in source) this.addQueue(workerId, source, target, props);
      else if ('streamPatterns' in source) this.addStream(workerId, source, target, props);
      else this.addSchedule(workerId, source, target);
    }
  }

  private addQueue(
    id: string,
    { queue }: Source<'queue'>,
    { name }: InvocationTarget,
    { queues, maxConcurrency = defaultMaxConcurrency }: TriggersProps,
  ): void {
    new CfnEventSourceMapping(this, id, {
      eventSourceArn: queues.queues[queue].queue.queueArn,
      functionName: name,
      batchSize: 10,
      functionResponseTypes: ['ReportBatchItemFailures'],
      scalingConfig: { maximumConcurrency: maxConcurrency },
    });
  }

  /**
   * A failed batch is bisected, retried and finally moved to the failure queue. Retries end by age, because Lambda does
   * not document its backoff. 12 h cover an overnight outage and leave 12 h of the stream's 24 h retention for
   * replaying failed records.
   * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
   */
  private addStream(
    id: string,
    { streamPatterns, tumblingWindowSeconds, batchingWindowSeconds, batchSize = 100 }: Source<'streamPatterns'>,
    { name }: InvocationTarget,
    { table, queues }: TriggersProps,
  ): void {
    if (table.tableStreamArn === undefined) throw new Error('The table has no stream.');
    new CfnEventSourceMapping(this, id, {
      eventSourceArn: table.tableStreamArn,
      functionName: name,
      startingPosition: 'TRIM_HORIZON',
      batchSize,
      bisectBatchOnFunctionError: true,
      functionResponseTypes: ['ReportBatchItemFailures'],
      // The maximum that Lambda accepts.
      maximumRetryAttempts: 10_000,
      maximumRecordAgeInSeconds: Duration.hours(12).toSeconds(),
      destinationConfig: { onFailure: { destination: queues.streamFailures.queueArn } },
      filterCriteria: { filters: streamPatterns.map((pattern) => ({ pattern: JSON.stringify(pattern) })) },
      ...(tumblingWindowSeconds !== undefined && { tumblingWindowInSeconds: tumblingWindowSeconds }),
      ...(batchingWindowSeconds !== undefined && { maximumBatchingWindowInSeconds: batchingWindowSeconds }),
    });
  }

  private addSchedule(
    id: string,
    { everyMinutes }: Source<'everyMinutes'>,
    { arn, functionName, qualifier }: InvocationTarget,
  ): void {
    const rule = new Rule(this, id, { schedule: Schedule.rate(Duration.minutes(everyMinutes)) });
    // A run that waits longer than its schedule is repeated by the next one.
    const retryPolicy = { maximumEventAgeInSeconds: getMaxEventAgeSeconds(everyMinutes), maximumRetryAttempts: 0 };
    rule.addTarget({ bind: () => ({ arn, retryPolicy }) });
    new CfnPermission(this, `${id}-permission`, {
      action: 'lambda:InvokeFunction',
      functionName: arn,
      principal: 'events.amazonaws.com',
      sourceArn: rule.ruleArn,
    });
    // The next scheduled run is the retry.
    new CfnEventInvokeConfig(this, `${id}-retries`, { functionName, qualifier, maximumRetryAttempts: 0 });
  }
}

/** EventBridge accepts 60 seconds to 24 hours. */
const getMaxEventAgeSeconds = (everyMinutes: number): number =>
  Math.min(Math.max(everyMinutes * 60, 60), Duration.hours(24).toSeconds());
