import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { type ITable, Operation } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { createApiMetric } from './api-metrics.ts';
import { type AlarmText, createAlarm } from './create-alarm.ts';
import { Dashboard } from './dashboard.ts';
import type { DeploymentOptions } from './deployment-options.ts';
import {
  createAccessLogMetric,
  createFailureMetric,
  createLogMetric,
  createShareMetric,
  createSumMetric,
  rejectionPattern,
  throttlePattern,
} from './failure-metrics.ts';
import type { QueueName, Queues } from './queues.ts';
import { exportWorker, sendsToOwnQueue, workers as workerDefinitions } from './worker-definitions.ts';

export interface AlarmsProps {
  /** The topic that the alarms publish to when they start and end. */
  readonly topic: ITopic;
  readonly accessLog: ILogGroup;
  readonly table: ITable;
  /** Functions by contract id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  /** Functions by endpoint id. */
  readonly notificationEndpoints: ReadonlyMap<string, LambdaFunction>;
  /** Functions by worker id. */
  readonly workers: ReadonlyMap<string, LambdaFunction>;
  readonly queues: Queues;
  readonly options: DeploymentOptions;
}

const staleEntitlements = 'apps see stale entitlements';
const missingAccess = 'customers may lack paid access, or keep access after a refund';

/** Texts for a queue whose messages are delayed, and for messages in its dead-letter queue. */
const queueAlarmTexts: Readonly<Record<QueueName, { readonly delayed: AlarmText; readonly deadLettered: AlarmText }>> =
  {
    notifications: {
      delayed: {
        symptom: 'Store notifications are processed late',
        impact: staleEntitlements,
        action: 'check the errors of process-notification',
      },
      deadLettered: {
        symptom: 'Store notifications are in the dead-letter queue',
        impact: missingAccess,
        action: 'fix the cause, then redrive the queue',
      },
    },
    refreshes: {
      delayed: {
        symptom: 'Purchases are refreshed late',
        impact: staleEntitlements,
        action: 'check the errors of refresh-purchase and the status pages of the stores',
      },
      deadLettered: {
        symptom: 'Refreshes are in the dead-letter queue',
        impact: missingAccess,
        action: 'fix the cause, then redrive the queue',
      },
    },
    webhooks: {
      delayed: {
        symptom: 'Webhooks are sent late',
        impact: 'app servers receive changes late',
        action: 'check the errors of send-webhook',
      },
      deadLettered: {
        symptom: 'Webhooks are in the dead-letter queue',
        impact: 'app servers do not receive changes',
        action: 'fix the internal error, then redrive the queue',
      },
    },
    forwards: {
      delayed: {
        symptom: 'Store notifications are forwarded late',
        impact: 'the servers of set-forwards receive changes late',
        action: 'check the errors of send-forward',
      },
      deadLettered: {
        symptom: 'Forwards are in the dead-letter queue',
        impact: 'the servers of set-forwards miss store notifications',
        action: 'fix the internal error, then redrive the queue',
        severity: 'ticket',
      },
    },
  };

/** Texts for messages that fail repeatedly, which happens long before the queue stops retrying. */
const workerAlarmTexts = {
  'process-notification': {
    queue: 'notifications',
    symptom: 'Store notifications fail because of an internal error, or of settings that a store rejects',
    impact: missingAccess,
  },
  'send-webhook': {
    queue: 'webhooks',
    symptom: 'Webhooks fail because of an internal error, or of the table',
    impact: 'app servers receive changes late',
  },
} as const satisfies Record<string, Omit<AlarmText, 'action'> & { readonly queue: QueueName }>;

/** Texts for failures of scheduled workers. */
const scheduleAlarmTexts = {
  'enqueue-due-items': {
    symptom: 'Due items are not enqueued',
    impact: 'purchases are not refreshed, expirations are not announced, and webhooks are not retried',
  },
  'recover-notifications': {
    symptom: 'Undelivered store notifications are not recovered',
    impact: staleEntitlements,
  },
  'poll-notifications': {
    symptom: 'Stores that do not push notifications are not polled',
    impact: 'customers keep access after refunds of the Microsoft Store',
  },
  'load-exchange-rates': {
    symptom: 'Exchange rates are not loaded',
    impact: 'amounts in US dollars are outdated or missing',
    severity: 'ticket',
  },
  'send-alerts': {
    symptom: 'Alerts fail',
    impact: 'the receivers of app set-alerts get no messages about problems',
    severity: 'ticket',
  },
  'export-apps': {
    symptom: 'Scheduled exports fail',
    impact: 'files of export schedule are missing or outdated',
    severity: 'ticket',
  },
} as const satisfies Record<string, Omit<AlarmText, 'action'>>;

const toNotRunningText = (id: keyof typeof scheduleAlarmTexts): AlarmText => ({
  ...scheduleAlarmTexts[id],
  action: `check the schedule of ${id} in EventBridge`,
});

/** Texts for workers that are not invoked. Each minute has a marker of the statistics in the stream. */
const notRunningTexts: Readonly<Record<string, AlarmText>> = {
  ...Object.fromEntries(
    (Object.keys(scheduleAlarmTexts) as (keyof typeof scheduleAlarmTexts)[]).map((id) => [id, toNotRunningText(id)]),
  ),
  'aggregate-statistics': {
    symptom: 'The stream of the table has no reader',
    impact: 'changes are not counted, and possibly not announced',
    action: 'check that the event source mappings of aggregate-statistics and fan-out-webhooks are enabled',
  },
};

const period = Duration.minutes(5);
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
/** Share of the requests that may fail, see docs/operating/objectives.md. */
const errorBudget = 0.001;
const burnRates = [
  { id: 'availability-burn-fast', hours: 1, burnRate: 14.4, days: 2, severity: 'page' },
  { id: 'availability-burn-slow', hours: 6, burnRate: 6, days: 5, severity: 'ticket' },
] as const;
const sumOptions = { period, statistic: 'Sum' } as const;
const ownQueueWorkers = workerDefinitions.filter(sendsToOwnQueue).map(({ id }) => id);

/** The alarms and a dashboard. */
export class Alarms extends Construct {
  private readonly topic: ITopic;
  private readonly alarms = new Map<string, Alarm>();

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { table, functions, options } = props;
    this.topic = props.topic;
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
    this.addAlarm('ServerErrors', serverErrors, 5, {
      symptom: 'The API responds with 5xx',
      impact: 'API clients fail',
      action: 'check the logs of the functions on the dashboard',
    });
    this.addAlarm('TableThrottles', tableThrottles, 10, {
      symptom: 'The table throttles reads or writes',
      impact: 'requests of all apps fail or are slow',
      action: 'check for a hot partition or an account quota',
    });
    const validate = functions.get('validate-receipt');
    if (validate) this.addValidationAlarms(validate);
    this.addQueueAlarms(props.queues);
    this.addWorkerAlarms(props);
    this.addCapacityAlarms(props);
    if (options.canary !== undefined) this.addReleaseAlarms(props);
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

  /** Alarms on limits of the account and of the stage. */
  private addCapacityAlarms({ accessLog, workers, options: { certificateArn } }: AlarmsProps): void {
    this.addAlarm(
      'Latency',
      createApiMetric(this, 'Latency', { period, statistic: 'p95' }),
      5_000,
      {
        symptom: 'One request in twenty takes longer than 5 seconds',
        impact: 'clients time out',
        action: 'compare the durations of the functions and the stores on the dashboard',
      },
      { evaluationPeriods: 3, datapointsToAlarm: 3 },
    );
    this.addAlarm(
      'StageThrottles',
      createAccessLogMetric(accessLog, 'Throttles', { period, filterPattern: throttlePattern }),
      10,
      {
        symptom: 'API Gateway rejects requests with 429',
        impact: 'API clients fail until they retry',
        action: 'find the address in the access log, then raise the limit of the stage or enable the web ACL',
      },
    );
    const requests = createApiMetric(this, 'Count', sumOptions);
    const rejections = createAccessLogMetric(accessLog, 'Rejections', { period, filterPattern: rejectionPattern });
    this.addAlarm(
      'Rejections',
      createShareMetric(rejections, { total: requests, minimum: 100, period }),
      0.5,
      {
        symptom: 'Half of the requests are rejected with 401 or 429',
        impact: 'the server or the clients of an app cannot read purchases',
        action: 'run the query rejected-requests-by-address, then check the keys and the request limit of the app',
      },
      { evaluationPeriods: 3, datapointsToAlarm: 3 },
    );
    this.addBurnRateAlarms();
    if (certificateArn !== undefined)
      this.addAlarm(
        'certificate-expiring',
        new Metric({
          namespace: 'AWS/CertificateManager',
          metricName: 'DaysToExpiry',
          dimensionsMap: { CertificateArn: certificateArn },
          period: Duration.days(1),
          statistic: 'Minimum',
        }),
        30,
        {
          symptom: 'The certificate of the domain name expires within 30 days',
          impact: 'all clients will fail when it has expired',
          action: 'check its validation records in AWS Certificate Manager, or import a new one',
          severity: 'ticket',
        },
        { comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD },
      );
    const concurrency = { namespace: 'AWS/Lambda', period: Duration.minutes(1) };
    this.addAlarm(
      'AccountThrottles',
      new Metric({ ...concurrency, metricName: 'Throttles', statistic: 'Sum' }),
      1,
      {
        symptom: 'The account has reached its quota of concurrent executions',
        impact: 'requests fail, and notifications and webhooks are delayed',
        action: 'raise the quota, or lower maxConcurrency',
      },
      { evaluationPeriods: 5, datapointsToAlarm: 3 },
    );
    const loops = ownQueueWorkers
      .flatMap((id) => workers.get(id) ?? [])
      .map((worker) => worker.metric('RecursiveInvocationsDropped', sumOptions));
    this.addAlarm('DroppedRecursion', createSumMetric(loops, period), 1, {
      symptom: 'Lambda has dropped messages that it considers a recursive loop',
      impact: missingAccess,
      action: 'check that the recursive loop configuration of the queue workers is Allow, then run the recovery',
    });
  }

  /**
   * Alarms on the error budget of availability, 0.1 % of the requests in 30 days: 2 % of it is used in an hour, or 5 %
   * in six hours.
   * @see https://sre.google/workbook/alerting-on-slos/
   */
  private addBurnRateAlarms(): void {
    for (const { id, hours, burnRate, days, severity } of burnRates) {
      const options = { period: Duration.hours(hours), statistic: 'Sum' } as const;
      const share = createShareMetric(createApiMetric(this, '5XXError', options), {
        total: createApiMetric(this, 'Count', options),
        minimum: 100,
        period: options.period,
      });
      this.addAlarm(id, share, burnRate * errorBudget, {
        symptom: `At this rate, the error budget of 30 days is used up in ${days} days`,
        impact: 'API clients fail more often than the objective allows',
        action: 'follow the runbook of ServerErrors',
        severity,
      });
    }
  }

  private addValidationAlarms(validate: LambdaFunction): void {
    const impact = 'customers do not get paid access until their client retries';
    this.addAlarm('ValidationErrors', createFailureMetric(validate, period), 3, {
      symptom: 'Validations fail because of an internal error, or of settings that a store rejects',
      impact,
      action: 'check the log of validate-receipt',
    });
    this.addAlarm('ValidationStores', createLogMetric(validate, 'StoreUnavailable', period), 20, {
      symptom: 'Validations fail because a store is unavailable',
      impact,
      action: 'check the log of validate-receipt and the status page of the store',
    });
    this.addAlarm('ValidationThrottles', validate.metricThrottles(sumOptions), 1, {
      symptom: 'Validations are throttled',
      impact,
      action: "raise the account's quota of concurrent executions",
    });
  }

  private addQueueAlarms({ queues, streamFailures }: Queues): void {
    for (const [name, { queue, deadLetterQueue }] of Object.entries(queues)) {
      const { delayed, deadLettered } = queueAlarmTexts[name as QueueName];
      const age = queue.metricApproximateAgeOfOldestMessage({ period, statistic: 'Maximum' });
      // 30 minutes: messages can be delayed for up to 15 minutes.
      this.addAlarm(`${name}-delayed`, age, 1_800, delayed);
      const deadMessages = deadLetterQueue.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' });
      this.addAlarm(`${name}-dead`, deadMessages, 1, deadLettered);
    }
    const failures = streamFailures.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' });
    this.addAlarm('stream-failures', failures, 1, {
      symptom: 'Stream records could not be processed',
      impact: 'changes are not announced or not counted',
      action: 'run webhooks stream-failures list, correct the items, then run webhooks stream-failures replay',
      severity: 'ticket',
    });
  }

  private addWorkerAlarms({ workers, notificationEndpoints }: AlarmsProps): void {
    for (const [id, endpoint] of notificationEndpoints) {
      this.addAlarm(`${id}-errors`, createFailureMetric(endpoint, period), 3, {
        symptom: 'Notifications of a store are not accepted',
        impact: `${staleEntitlements} until the store retries`,
        action: `check the log of ${id}`,
      });
    }
    for (const id of ['fan-out-webhooks', 'aggregate-statistics']) {
      const age = workers.get(id)?.metric('IteratorAge', { period, statistic: 'Maximum' });
      if (age)
        this.addAlarm(`${id}-delayed`, age, 900_000, {
          symptom: 'Stream records are processed late',
          impact: 'changes are announced or counted late',
          action: `check the errors of ${id}`,
        });
    }
    for (const [id, { queue, symptom, impact }] of Object.entries(workerAlarmTexts)) {
      const worker = workers.get(id);
      // The age of the oldest message excludes messages that were received three times or more.
      if (worker)
        this.addAlarm(
          `${queue}-failing`,
          createFailureMetric(worker, period),
          1,
          { symptom, impact, action: `check the log of ${id}` },
          { evaluationPeriods: 6, datapointsToAlarm: 4 },
        );
    }
    const processor = workers.get('process-notification');
    if (processor)
      this.addAlarm('notifications-retrying', createLogMetric(processor, 'NotificationDelayed', period), 1, {
        symptom: 'Store notifications wait because the store has been unavailable for 30 minutes',
        impact: staleEntitlements,
        action: "check the app's events and the status page of the store",
      });
    const sender = workers.get('send-webhook');
    if (sender)
      this.addAlarm('webhooks-given-up', createLogMetric(sender, 'WebhookDead', period), 1, {
        symptom: "Webhooks have failed for three days at an app's server",
        impact: 'the app server has missed changes',
        action: 'read the app in the log of send-webhook, then replay its dead deliveries',
        severity: 'ticket',
      });
    if (sender)
      this.addAlarm(
        'webhook-url-failing',
        createLogMetric(sender, 'WebhookUrlFailing', period),
        1,
        {
          symptom: "Every webhook to an app's server has failed for an hour",
          impact: 'the app server misses changes until it responds',
          action: 'read the app and the URL in the log of send-webhook, and inform its owner',
        },
        // Retries are up to an hour apart.
        { evaluationPeriods: 12, datapointsToAlarm: 1 },
      );
    const refresher = workers.get('refresh-purchase');
    if (refresher)
      this.addAlarm('refund-statements-lost', createLogMetric(refresher, 'RefundStatementLost', period), 1, {
        symptom: 'A store has not accepted a statement about a refund before the deadline',
        impact: 'the store decides about the refund without the app',
        action: 'read the app and the request in the log of refresh-purchase',
        severity: 'ticket',
      });
    if (refresher)
      this.addAlarm('refreshes-failing', createFailureMetric(refresher, period), 10, {
        symptom: 'Refreshes fail because of an internal error, or of settings that a store rejects',
        impact: staleEntitlements,
        action: 'check the log of refresh-purchase',
      });
    this.addScheduleAlarms(workers);
    this.addMissingRunAlarms(workers);
  }

  /** Alarms that start during the traffic shift of a release: the other alarms of these workers are slower. */
  private addReleaseAlarms({ workers }: AlarmsProps): void {
    for (const { id, source } of workerDefinitions) {
      const worker = workers.get(id);
      if (!worker || 'everyMinutes' in source) continue;
      this.addAlarm(`${id}-failures`, createFailureMetric(worker, period), 10, {
        symptom: `The worker ${id} fails repeatedly`,
        impact: 'changes of purchases are processed late, and a release in progress is rolled back',
        action: `check the log of ${id}`,
      });
    }
  }

  private addScheduleAlarms(workers: AlarmsProps['workers']): void {
    for (const [id, text] of Object.entries(scheduleAlarmTexts)) {
      const worker = workers.get(id);
      if (worker)
        this.addAlarm(`${id}-errors`, worker.metricErrors(sumOptions), 1, {
          ...text,
          action: `check the log of ${id}`,
        });
    }
    const dueItemWorker = workers.get('enqueue-due-items');
    if (!dueItemWorker) return;
    this.addAlarm('due-items-late', createLogMetric(dueItemWorker, 'DueItemsLate', period), 1, {
      symptom: 'Due items are enqueued more than an hour late',
      impact: 'purchases are refreshed, expirations are announced, and webhooks are retried late',
      action: 'check the duration and the throttles of enqueue-due-items, and the throttles of the table',
    });
  }

  /** Alarms on a worker that its schedule, or the mapping of its stream, no longer invokes. */
  private addMissingRunAlarms(workers: AlarmsProps['workers']): void {
    for (const { id, source } of [...workerDefinitions, exportWorker]) {
      const worker = workers.get(id);
      const text = notRunningTexts[id as keyof typeof notRunningTexts];
      if (!worker || !text) continue;
      const minutes = 'everyMinutes' in source ? Math.max(15, 3 * source.everyMinutes) : 15;
      this.addAlarm(
        `${id}-not-running`,
        worker.metricInvocations({ period: Duration.minutes(minutes), statistic: 'Sum' }),
        1,
        text,
        {
          comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
          treatMissingData: TreatMissingData.BREACHING,
        },
      );
    }
  }

  private addAlarm(
    id: string,
    metric: IMetric,
    threshold: number,
    text: AlarmText,
    options: Partial<AlarmProps> = {},
  ): void {
    const alarm = createAlarm(this, id, { topic: this.topic, metric, threshold, text, options });
    this.alarms.set(id, alarm);
  }
}
