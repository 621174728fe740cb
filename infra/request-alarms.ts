import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, type IMetric, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { platformTokens, storeNames } from '../lib/foundation/platform.ts';
import {
  type AddAlarm,
  type AlarmsProps,
  missingAccess,
  period,
  staleEntitlements,
  sumOptions,
} from './alarm-parts.ts';
import { createApiMetric } from './api-metrics.ts';
import { getMetricNamespace } from './code-stack.ts';
import {
  createAccessLogMetric,
  createFailureMetric,
  createGroupLogMetric,
  createLogMetric,
  createShareMetric,
  createSumMetric,
  rejectionPattern,
  throttlePattern,
} from './failure-metrics.ts';
import { sendsToOwnQueue, workers as workerDefinitions } from './worker-definitions.ts';

/** Share of the requests that may fail, see docs/operating/objectives.md. */
const errorBudget = 0.001;
const fastBurn = { speed: 'fast', hours: 1, burnRate: 14.4, days: 2, severity: 'page' } as const;
const slowBurn = { speed: 'slow', hours: 6, burnRate: 6, days: 5, severity: 'ticket' } as const;
const ownQueueWorkers = workerDefinitions.filter(sendsToOwnQueue).map(({ id }) => id);

interface Objective {
  readonly prefix: string;
  readonly burnRates: readonly (typeof fastBurn | typeof slowBurn)[];
  readonly errors: (options: SumOptions) => readonly IMetric[];
  readonly total: (options: SumOptions) => IMetric;
  readonly impact: string;
  readonly action: string;
}

type SumOptions = { readonly period: Duration; readonly statistic: 'Sum' };

/** Alarm on lists that leave out rows. */
export function addListAlarm(add: AddAlarm, functions: AlarmsProps['functions']): void {
  const lists = ['list-purchases', 'list-transactions', 'list-customers'].flatMap((id) => functions.get(id) ?? []);
  const metric = createGroupLogMetric(lists, 'RowUnreadable', { group: 'lists', period });
  if (!metric) return;
  add('rows-unreadable', metric, 1, {
    symptom: 'A purchase, transaction or customer is not readable',
    impact: 'lists of its app leave it out, and other requests for it fail',
    action: 'read the item in the log of the list, then correct it',
    severity: 'ticket',
  });
}

/** Alarms on limits of the account and of the stage. */
export function addCapacityAlarms(
  add: AddAlarm,
  scope: Construct,
  { accessLog, workers, options: { certificateArn } }: Pick<AlarmsProps, 'accessLog' | 'workers' | 'options'>,
): void {
  add(
    'Latency',
    createApiMetric(scope, 'Latency', { period, statistic: 'p95' }),
    5_000,
    {
      symptom: 'One request in twenty takes longer than 5 seconds',
      impact: 'clients time out',
      action: 'compare the durations of the functions and the stores on the dashboard',
    },
    { evaluationPeriods: 3, datapointsToAlarm: 3 },
  );
  add('StageThrottles', createAccessLogMetric(accessLog, 'Throttles', { period, filterPattern: throttlePattern }), 10, {
    symptom: 'API Gateway rejects requests with 429',
    impact: 'API clients fail until they retry',
    action: 'find the address in the access log, then raise the limit of the stage or enable the web ACL',
  });
  const requests = createApiMetric(scope, 'Count', sumOptions);
  const rejections = createAccessLogMetric(accessLog, 'Rejections', { period, filterPattern: rejectionPattern });
  add(
    'Rejections',
    createShareMetric([rejections], { all: [requests], minimum: 100, period }),
    0.5,
    {
      symptom: 'Half of the requests are rejected with 401 or 429',
      impact: 'the server or the clients of an app cannot read purchases',
      action: 'run the query rejected-requests-by-address, then check the keys and the request limit of the app',
    },
    { evaluationPeriods: 3, datapointsToAlarm: 3 },
  );
  addBurnRateAlarms(add, {
    prefix: 'availability',
    burnRates: [fastBurn, slowBurn],
    errors: (options) => [createApiMetric(scope, '5XXError', options)],
    total: (options) => createApiMetric(scope, 'Count', options),
    impact: 'API clients fail more often than the objective allows',
    action: 'follow the runbook of ServerErrors',
  });
  if (certificateArn !== undefined)
    add(
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
  add(
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
  add('DroppedRecursion', createSumMetric(loops, period), 1, {
    symptom: 'Lambda has dropped messages that it considers a recursive loop',
    impact: missingAccess,
    action: 'check that the recursive loop configuration of the queue workers is Allow, then run the recovery',
  });
}

/**
 * Alarms on the error budget of an objective, 0.1 % of the requests in 30 days: 2 % of it is used in an hour, or 5 % in
 * six hours.
 * @see https://sre.google/workbook/alerting-on-slos/
 */
function addBurnRateAlarms(add: AddAlarm, { prefix, burnRates, errors, total, impact, action }: Objective): void {
  for (const { speed, hours, burnRate, days, severity } of burnRates) {
    const options = { period: Duration.hours(hours), statistic: 'Sum' } as const;
    const share = createShareMetric(errors(options), { all: [total(options)], minimum: 100, period: options.period });
    add(`${prefix}-burn-${speed}`, share, burnRate * errorBudget, {
      symptom: `At this rate, the error budget of 30 days is used up in ${days} days`,
      impact,
      action,
      severity,
    });
  }
}

export function addValidationAlarms(add: AddAlarm, validate: LambdaFunction): void {
  const impact = 'customers do not get paid access until their client retries';
  add('ValidationErrors', createFailureMetric(validate, period), 3, {
    symptom: 'Validations fail because of an internal error, or of settings that a store rejects',
    impact,
    action: 'check the log of validate-receipt',
  });
  add('ValidationStores', createLogMetric(validate, 'StoreUnavailable', period), 20, {
    symptom: 'Validations fail because a store is unavailable',
    impact,
    action: 'check the log of validate-receipt and the status page of the store',
  });
  add('ValidationThrottles', validate.metricThrottles(sumOptions), 1, {
    symptom: 'Validations are throttled',
    impact,
    action: "raise the account's quota of concurrent executions",
  });
  // A failed validation has the status 200, so the metrics of API Gateway do not count it.
  addBurnRateAlarms(add, {
    prefix: 'validation',
    burnRates: [fastBurn],
    errors: (options) => [
      validate.metricErrors(options),
      createLogMetric(validate, 'Error', options.period),
      createLogMetric(validate, 'StoreUnavailable', options.period),
    ],
    total: (options) => validate.metricInvocations(options),
    impact,
    action: 'follow the runbooks of ValidationErrors and ValidationStores',
  });
}

/** Most purchases are refreshed at these stores. The metrics of a third store would cost 0.20 dollars a month. */
const alarmedStores = [platformTokens.appStore, platformTokens.googlePlay];

/** Alarms on stores that do not respond usefully to validations, refreshes and the rest, by app or for all apps. */
export function addStoreAlarms(add: AddAlarm, scope: Construct): void {
  const hour = Duration.hours(1);
  for (const platform of alarmedStores) {
    const count = (Outcome: 'ok' | 'failed') =>
      new Metric({
        namespace: getMetricNamespace(scope),
        metricName: 'StoreRequests',
        dimensionsMap: { Store: platform, Outcome },
        period: hour,
        statistic: 'Sum',
      });
    const failed = count('failed');
    add(
      `requests-to-${platform.replace('_', '-')}-failing`,
      createShareMetric([failed], { all: [count('ok'), failed], minimum: 5, period: hour }),
      0.5,
      {
        symptom: `Half of the requests to ${storeNames[platform]} fail for two hours`,
        impact: `${staleEntitlements}, because purchases are not refreshed`,
        action: 'run doctor, and check the status page of the store',
      },
      { evaluationPeriods: 3, datapointsToAlarm: 2 },
    );
  }
}
