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
import { failuresOf, logged, sumOf } from './failure-metrics.ts';
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
const hurtBy: Readonly<Record<QueueName, { readonly late: string; readonly dead: string }>> = {
  notifications: {
    late: 'Applications are hurt: what stores tell is taken in late. Look at the errors of process-notification.',
    dead: 'Buyers are hurt: messages of stores could not be taken in. Mend the cause, then redrive the dead-letter queue.',
  },
  refreshes: {
    late: 'Applications are hurt: purchases are refreshed late. Look at the errors of refresh-purchase and at the stores.',
    dead: 'Buyers are hurt: purchases could not be refreshed. Mend the cause, then redrive the dead-letter queue.',
  },
  webhooks: {
    late: 'Applications are hurt: their webhooks leave late. Look at the errors of send-webhook.',
    dead: 'Applications are hurt: webhooks could not be sent for a fault of ours. Mend it, then redrive the dead-letter queue.',
  },
};

/** Who is hurt when messages of a patient queue fail again and again, which is long before they die. */
const hurtByFailing = {
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
const hurtWithout = {
  sweep: 'Applications are hurt: nothing is refreshed, no expiry is told, and webhooks are not sent again.',
  reconcile: 'Applications are hurt: what stores failed to deliver is not found.',
  collect: 'Applications are hurt: money that store_c gave back is not noticed.',
  'exchange-rates': 'Owners are hurt: amounts in US dollars are worked out with old rates, or not at all.',
} as const;

const period = Duration.minutes(5);
/** An alarm takes ten metrics at most: the operations that `lib/db/table.ts` calls. */
const usedOperations = [
  Operation.GET_ITEM,
  Operation.BATCH_GET_ITEM,
  Operation.QUERY,
  Operation.UPDATE_ITEM,
  Operation.BATCH_WRITE_ITEM,
  Operation.TRANSACT_WRITE_ITEMS,
];
const summed = { period, statistic: 'Sum' } as const;

/** Alarms whose text says who is hurt, a topic to hear of them, and a dashboard of the same numbers. */
export class Alarms extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { api, table, functions } = props;
    this.topic = new AlarmTopic(this, 'Alarms').topic;
    const serverErrors = api.metricServerError(summed);
    const tableThrottles = sumOf(
      usedOperations.map((operation) => table.metricThrottledRequestsForOperation(operation, summed)),
      period,
    );
    this.alarm(
      'ServerErrors',
      serverErrors,
      5,
      'Callers are hurt: the API answers 5xx. Look at the logs of the functions on the dashboard.',
    );
    this.alarm(
      'TableThrottles',
      tableThrottles,
      10,
      'All applications are hurt: the table refuses reads or writes. Look for a hot partition or an account limit.',
    );
    const validate = functions.get('validate-receipt');
    if (validate) this.validation(validate);
    this.queues(props.queues);
    this.consumers(props);
    this.dashboard(
      {
        serverErrors,
        tableThrottles,
        requests: api.metricCount(summed),
        latency: api.metricLatency({ period, statistic: 'p95' }),
      },
      validate,
    );
  }

  private validation(validate: LambdaFunction): void {
    this.alarm(
      'ValidationErrors',
      failuresOf(validate, period),
      3,
      'Buyers are hurt: validations fail for a fault of ours or for settings that a store refuses. Clients will ask again.',
    );
    this.alarm(
      'ValidationStores',
      logged(validate, 'Unreachable', period),
      20,
      'Buyers are hurt: a store cannot be asked, so paid purchases are not granted yet. Clients will ask again.',
    );
    this.alarm(
      'ValidationThrottles',
      validate.metricThrottles(summed),
      1,
      'Buyers are hurt: validations are throttled. Raise the concurrency of the account.',
    );
  }

  private queues({ work, streamFailures }: Queues): void {
    for (const [name, { queue, dead }] of Object.entries(work)) {
      const { late, dead: died } = hurtBy[name as QueueName];
      const age = queue.metricApproximateAgeOfOldestMessage({ period, statistic: 'Maximum' });
      // A webhook or a store may be waited for; what has waited longer than the longest wait stands still.
      this.alarm(`${name}-late`, age, 1_800, late);
      this.alarm(
        `${name}-dead`,
        dead.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
        1,
        died,
      );
    }
    const failures = streamFailures.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' });
    this.alarm(
      'stream-failures',
      failures,
      1,
      'Applications are hurt: changes were not announced or not counted. The queue names the records; run stats recount and deliveries announce.',
    );
  }

  private consumers({ workers, receivers }: AlarmsProps): void {
    for (const [id, receiver] of receivers) {
      const refused = 'Applications are hurt: notifications of a store are not taken in, and come late. Look at';
      this.alarm(`${id}-errors`, failuresOf(receiver, period), 3, `${refused} ${id}.`);
    }
    for (const name of ['fan-out', 'aggregate']) {
      const age = workers.get(name)?.metric('IteratorAge', { period, statistic: 'Maximum' });
      const late =
        'Applications are hurt: what changed in the table is announced or counted late. Look at the errors of';
      if (age) this.alarm(`${name}-late`, age, 900_000, `${late} ${name}.`);
    }
    for (const [id, { queue, hurt }] of Object.entries(hurtByFailing)) {
      const worker = workers.get(id);
      // The age of a queue's oldest message leaves out those that were shown three times.
      if (worker)
        this.alarm(`${queue}-failing`, failuresOf(worker, period), 1, `${hurt} Look at the log of ${id}.`, {
          evaluationPeriods: 6,
          datapointsToAlarm: 4,
        });
    }
    const processing = workers.get('process-notification');
    if (processing) {
      const late = logged(processing, 'Late', period);
      this.alarm(
        'notifications-put-off',
        late,
        1,
        'Applications are hurt: a store has told of purchases and cannot be asked about them for half an hour. Look at its events.',
      );
    }
    const refreshing = workers.get('refresh-purchase');
    if (refreshing) {
      this.alarm(
        'refreshes-refused',
        failuresOf(refreshing, period),
        10,
        'Applications are hurt: purchases cannot be refreshed for a fault of ours or for settings that a store refuses.',
      );
    }
    this.scheduled(workers);
  }

  private scheduled(workers: AlarmsProps['workers']): void {
    for (const [name, hurt] of Object.entries(hurtWithout)) {
      const worker = workers.get(name);
      if (worker) this.alarm(`${name}-errors`, worker.metricErrors(summed), 1, `${hurt} Look at the log of ${name}.`);
    }
    const sweep = workers.get('sweep');
    if (!sweep) return;
    const runs = sweep.metricInvocations({ period: Duration.minutes(15), statistic: 'Sum' });
    this.alarm('sweep-silent', runs, 1, `${hurtWithout.sweep} Its schedule does not call it.`, {
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  private alarm(
    id: string,
    metric: IMetric,
    threshold: number,
    alarmDescription: string,
    how: Partial<AlarmProps> = {},
  ): void {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      alarmDescription,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...how,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
  }

  private dashboard(
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
              left: [validate.metricInvocations(summed)],
              right: [validate.metricErrors(summed), validate.metricDuration({ period, statistic: 'p95' })],
            }),
          ]
        : []),
    );
  }
}
