import { type Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Operation } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { type AddAlarm, type AlarmsProps, period, sumOptions } from './alarm-parts.ts';
import { createApiMetric } from './api-metrics.ts';
import { createAlarm } from './create-alarm.ts';
import { Dashboard } from './dashboard.ts';
import { createSumMetric } from './failure-metrics.ts';
import { addQueueAlarms } from './queue-alarms.ts';
import { addCapacityAlarms, addListAlarm, addStoreAlarms, addValidationAlarms } from './request-alarms.ts';
import { addMissingRunAlarms, addScheduleAlarms } from './schedule-alarms.ts';
import { addReleaseAlarms, addWorkerAlarms } from './worker-alarms.ts';
import { workers as workerDefinitions } from './worker-definitions.ts';

/**
 * The operations that `lib/foundation/table.ts` calls. An alarm on a metric math expression takes at most ten metrics.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
 */
const tableOperations = [
  Operation.GET_ITEM,
  Operation.BATCH_GET_ITEM,
  Operation.QUERY,
  Operation.UPDATE_ITEM,
  Operation.BATCH_WRITE_ITEM,
  Operation.TRANSACT_WRITE_ITEMS,
];

/** The alarms and a dashboard. */
export class Alarms extends Construct {
  private readonly alarms = new Map<string, Alarm>();

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { topic, table, functions, workers, options } = props;
    const add: AddAlarm = (alarmId, metric, threshold, text, alarmOptions = {}) => {
      this.alarms.set(alarmId, createAlarm(this, alarmId, { topic, metric, threshold, text, options: alarmOptions }));
    };
    const serverErrors = createApiMetric(this, '5XXError', sumOptions);
    const tableThrottles = createSumMetric(
      tableOperations.map(
        (operation) =>
          new Metric({
            namespace: 'AWS/DynamoDB',
            metricName: 'ThrottledRequests',
            dimensionsMap: { TableName: table.tableName, Operation: operation },
            ...sumOptions,
          }),
      ),
      period,
    );
    add('ServerErrors', serverErrors, 5, {
      symptom: 'The API responds with 5xx',
      impact: 'API clients fail',
      action: 'check the logs of the functions on the dashboard',
    });
    add('TableThrottles', tableThrottles, 10, {
      symptom: 'The table throttles reads or writes',
      impact: 'requests of all apps fail or are slow',
      action: 'check for a hot partition or an account quota',
    });
    const validate = functions.get('validate-receipt');
    if (validate) addValidationAlarms(add, validate);
    addListAlarm(add, functions);
    addQueueAlarms(add, props.queues);
    addWorkerAlarms(add, props);
    addScheduleAlarms(add, workers);
    addMissingRunAlarms(add, workers);
    addStoreAlarms(add, this);
    addCapacityAlarms(add, this, props);
    if (options.canary !== undefined) addReleaseAlarms(add, workers);
    new Dashboard(this, 'Dashboard', { ...props, serverErrors, tableThrottles });
  }

  /** Returns the alarms that report failures of a function within five minutes. */
  listByFunction(functionId: string): readonly Alarm[] {
    const isWorker = workerDefinitions.some(({ id }) => id === functionId);
    const ids = [
      `${functionId}-errors`,
      `${functionId}-failures`,
      ...(isWorker ? [] : ['ServerErrors']),
      ...(functionId === 'validate-receipt' ? ['ValidationErrors'] : []),
    ];
    return ids.flatMap((id) => this.alarms.get(id) ?? []);
  }
}
