import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Operation, type Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

interface AlarmsProps {
  readonly api: SpecRestApi;
  readonly table: Table;
  /** By contract id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
}

const period = Duration.minutes(5);
/** An alarm takes ten metrics at most: the operations that `lib/db/table.ts` calls. */
const usedOperations = [
  Operation.GET_ITEM,
  Operation.BATCH_GET_ITEM,
  Operation.QUERY,
  Operation.BATCH_WRITE_ITEM,
  Operation.TRANSACT_WRITE_ITEMS,
];
const summed = { period, statistic: 'Sum' } as const;

/** Alarms whose text says who is hurt, a topic to hear of them, and a dashboard of the same numbers. */
export class Alarms extends Construct {
  private readonly topic: Topic;

  constructor(scope: Construct, id: string, { api, table, functions }: AlarmsProps) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { displayName: 'Claimcheck alarms', enforceSSL: true });
    const serverErrors = api.metricServerError(summed);
    const tableThrottles = table.metricThrottledRequestsForOperations({ operations: usedOperations, period });
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
      validate.metricErrors(summed),
      3,
      'Buyers are hurt: validations crash, so paid purchases are not granted. Clients will ask again.',
    );
    this.alarm(
      'ValidationThrottles',
      validate.metricThrottles(summed),
      1,
      'Buyers are hurt: validations are throttled. Raise the concurrency of the account.',
    );
  }

  private alarm(id: string, metric: IMetric, threshold: number, alarmDescription: string): void {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      alarmDescription,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
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
