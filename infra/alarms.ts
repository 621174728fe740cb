import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Operation, type Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { AlarmTopic } from './alarm-topic.ts';
import { createFailureMetric, createLogMetric, createSumMetric } from './failure-metrics.ts';
import type { QueueName, Queues } from './queues.ts';

interface AlarmsProps {
  readonly api: SpecRestApi;
  readonly table: Table;
  /** By contract id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  /** By hook id. */
  readonly receivers: ReadonlyMap<string, LambdaFunction>;
  /** By worker id. */
  readonly workers: ReadonlyMap<string, LambdaFunction>;
  readonly queues: Queues;
}

/** Who is hurt when a queue stands still, and when messages of it died. */
const queueAlarmTexts: Readonly<Record<QueueName, { readonly delayed: string; readonly deadLettered: string }>> = {
  notifications: {
    delayed: 'Applications are hurt: what stores tell is taken in late. Look at the errors of process-notification.',
    deadLettered:
      'Buyers are hurt: messages of stores could not be taken in. Mend the cause, then redrive the dead-letter queue.',
  },
  refreshes: {
    delayed:
      'Applications are hurt: purchases are refreshed late. Look at the errors of refresh-purchase and at the stores.',
    deadLettered:
      'Buyers are hurt: purchases could not be refreshed. Mend the cause, then redrive the dead-letter queue.',
  },
  webhooks: {
    delayed: 'Applications are hurt: their webhooks leave late. Look at the errors of send-webhook.',
    deadLettered:
      'Applications are hurt: webhooks could not be sent for a fault of ours. Mend it, then redrive the dead-letter queue.',
  },
};

/** Who is hurt when messages of a patient queue fail again and again, which is long before they die. */
const workerAlarmTexts = {
  'process-notification': {
    queue: 'notifications',
    hurt: 'Buyers are hurt: what stores tell cannot be taken in, for a fault of ours or for settings that a store refuses.',
  },
  'send-webhook': {
    queue: 'webhooks',
    hurt: 'Applications are hurt: webhooks cannot be sent for a fault of ours, or of the table.',
  },
} as const satisfies Record<string, { readonly queue: QueueName; readonly hurt: string }>;

/** Who is hurt when a worker that runs by the clock fails. */
const scheduleAlarmTexts = {
  'enqueue-due-items':
    'Applications are hurt: nothing is refreshed, no expiry is told, and webhooks are not sent again.',
  'recover-notifications': 'Applications are hurt: what stores failed to deliver is not found.',
  'poll-notifications': 'Applications are hurt: money that store_c gave back is not noticed.',
  'load-exchange-rates': 'Owners are hurt: amounts in US dollars are worked out with old rates, or not at all.',
} as const;

const period = Duration.minutes(5);
/** An alarm takes ten metrics at most: the operations that `lib/db/table.ts` calls. */
const tableOperations = [
  Operation.GET_ITEM,
  Operation.BATCH_GET_ITEM,
  Operation.QUERY,
  Operation.UPDATE_ITEM,
  Operation.BATCH_WRITE_ITEM,
  Operation.TRANSACT_WRITE_ITEMS,
];
const sumOptions = { period, statistic: 'Sum' } as const;

/** Alarms whose text says who is hurt, a topic to hear of them, and a dashboard of the same numbers. */
export class Alarms extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { api, table, functions } = props;
    this.topic = new AlarmTopic(this, 'Alarms').topic;
    const serverErrors = api.metricServerError(sumOptions);
    const tableThrottles = createSumMetric(
      tableOperations.map((operation) => table.metricThrottledRequestsForOperation(operation, sumOptions)),
      period,
    );
    this.addAlarm(
      'ServerErrors',
      serverErrors,
      5,
      'Callers are hurt: the API answers 5xx. Look at the logs of the functions on the dashboard.',
    );
    this.addAlarm(
      'TableThrottles',
      tableThrottles,
      10,
      'All applications are hurt: the table refuses reads or writes. Look for a hot partition or an account limit.',
    );
    const validate = functions.get('validate-receipt');
    if (validate) this.addValidationAlarms(validate);
    this.addQueueAlarms(props.queues);
    this.addWorkerAlarms(props);
    this.addDashboard(
      {
        serverErrors,
        tableThrottles,
        requests: api.metricCount(sumOptions),
        latency: api.metricLatency({ period, statistic: 'p95' }),
      },
      validate,
    );
  }

  private addValidationAlarms(validate: LambdaFunction): void {
    this.addAlarm(
      'ValidationErrors',
      createFailureMetric(validate, period),
      3,
      'Buyers are hurt: validations fail for a fault of ours or for settings that a store refuses. Clients will ask again.',
    );
    this.addAlarm(
      'ValidationStores',
      createLogMetric(validate, 'StoreUnavailable', period),
      20,
      'Buyers are hurt: a store cannot be asked, so paid purchases are not granted yet. Clients will ask again.',
    );
    this.addAlarm(
      'ValidationThrottles',
      validate.metricThrottles(sumOptions),
      1,
      'Buyers are hurt: validations are throttled. Raise the concurrency of the account.',
    );
  }

  private addQueueAlarms({ queues, streamFailures }: Queues): void {
    for (const [name, { queue, deadLetterQueue }] of Object.entries(queues)) {
      const { delayed, deadLettered: died } = queueAlarmTexts[name as QueueName];
      const age = queue.metricApproximateAgeOfOldestMessage({ period, statistic: 'Maximum' });
      // A webhook or a store may be waited for; what has waited longer than the longest wait stands still.
      this.addAlarm(`${name}-delayed`, age, 1_800, delayed);
      this.addAlarm(
        `${name}-dead`,
        deadLetterQueue.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
        1,
        died,
      );
    }
    const failures = streamFailures.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' });
    this.addAlarm(
      'stream-failures',
      failures,
      1,
      'Applications are hurt: changes were not announced or not counted. The queue names the records; run stats recount and deliveries backfill.',
    );
  }

  private addWorkerAlarms({ workers, receivers }: AlarmsProps): void {
    for (const [id, receiver] of receivers) {
      const refused = 'Applications are hurt: notifications of a store are not taken in, and come late. Look at';
      this.addAlarm(`${id}-errors`, createFailureMetric(receiver, period), 3, `${refused} ${id}.`);
    }
    for (const name of ['fan-out-webhooks', 'aggregate-statistics']) {
      const age = workers.get(name)?.metric('IteratorAge', { period, statistic: 'Maximum' });
      const late =
        'Applications are hurt: what changed in the table is announced or counted late. Look at the errors of';
      if (age) this.addAlarm(`${name}-delayed`, age, 900_000, `${late} ${name}.`);
    }
    for (const [id, { queue, hurt: impact }] of Object.entries(workerAlarmTexts)) {
      const worker = workers.get(id);
      // The age of a queue's oldest message leaves out those that were shown three times.
      if (worker)
        this.addAlarm(
          `${queue}-failing`,
          createFailureMetric(worker, period),
          1,
          `${impact} Look at the log of ${id}.`,
          {
            evaluationPeriods: 6,
            datapointsToAlarm: 4,
          },
        );
    }
    const processing = workers.get('process-notification');
    if (processing) {
      const late = createLogMetric(processing, 'NotificationDelayed', period);
      this.addAlarm(
        'notifications-retrying',
        late,
        1,
        'Applications are hurt: a store has told of purchases and cannot be asked about them for half an hour. Look at its events.',
      );
    }
    const refreshing = workers.get('refresh-purchase');
    if (refreshing) {
      this.addAlarm(
        'refreshes-failing',
        createFailureMetric(refreshing, period),
        10,
        'Applications are hurt: purchases cannot be refreshed for a fault of ours or for settings that a store refuses.',
      );
    }
    this.addScheduleAlarms(workers);
  }

  private addScheduleAlarms(workers: AlarmsProps['workers']): void {
    for (const [name, impact] of Object.entries(scheduleAlarmTexts)) {
      const worker = workers.get(name);
      if (worker)
        this.addAlarm(`${name}-errors`, worker.metricErrors(sumOptions), 1, `${impact} Look at the log of ${name}.`);
    }
    const sweep = workers.get('enqueue-due-items');
    if (!sweep) return;
    const runs = sweep.metricInvocations({ period: Duration.minutes(15), statistic: 'Sum' });
    this.addAlarm(
      'enqueue-due-items-not-running',
      runs,
      1,
      `${scheduleAlarmTexts['enqueue-due-items']} Its schedule does not call it.`,
      {
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
      },
    );
  }

  private addAlarm(
    id: string,
    metric: IMetric,
    threshold: number,
    alarmDescription: string,
    options: Partial<AlarmProps> = {},
  ): void {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      alarmDescription,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...options,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
  }

  private addDashboard(
    metrics: Readonly<Record<'serverErrors' | 'tableThrottles' | 'requests' | 'latency', IMetric>>,
    validate: LambdaFunction | undefined,
  ): void {
    const dashboard = new Dashboard(this, 'Dashboard');
    dashboard.applyRemovalPolicy(RemovalPolicy.DESTROY);
    dashboard.addWidgets(
      new GraphWidget({ title: 'Requests and server errors', left: [metrics.requests], right: [metrics.serverErrors] }),
      new GraphWidget({ title: 'Latency, 95th percentile', left: [metrics.latency] }),
      new GraphWidget({ title: 'Table throttles', left: [metrics.tableThrottles] }),
      ...(validate
        ? [
            new GraphWidget({
              title: 'Validations',
              left: [validate.metricInvocations(sumOptions)],
              right: [validate.metricErrors(sumOptions), validate.metricDuration({ period, statistic: 'p95' })],
            }),
          ]
        : []),
    );
  }
}
