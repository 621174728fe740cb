import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { getMetricNamespace } from './code-stack.ts';

const isError = FilterPattern.stringValue('$.level', '=', 'ERROR');

/**
 * Filters of error lines by the fields that lib/foundation/log.ts logs under `message`. Lambda's own metric `Errors`
 * does not count failures that a function handles.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
export const logPatterns = {
  /** Internal errors and settings that a store rejects. Lines without a code count too, for example crashes. */
  Error: FilterPattern.all(
    isError,
    FilterPattern.any(
      FilterPattern.notExists('$.message.code'),
      FilterPattern.stringValue('$.message.code', '!=', 'ConnectionFailed'),
    ),
  ),
  /** Stores that are unavailable. */
  StoreUnavailable: FilterPattern.all(isError, FilterPattern.stringValue('$.message.code', '=', 'ConnectionFailed')),
  /** Store notifications that wait because the store has been unavailable for a long time. */
  NotificationDelayed: FilterPattern.all(
    isError,
    FilterPattern.stringValue('$.message.problem', '=', 'NotificationDelayed'),
  ),
  /** Due items that were enqueued more than an hour late. */
  DueItemsLate: FilterPattern.all(isError, FilterPattern.stringValue('$.message.problem', '=', 'DueItemsLate')),
  /** Statements about refunds that a store has not accepted before the deadline. */
  RefundStatementLost: FilterPattern.all(
    isError,
    FilterPattern.stringValue('$.message.problem', '=', 'RefundStatementLost'),
  ),
  /** Rows that a list leaves out, because a stored item is not readable. */
  RowUnreadable: FilterPattern.all(isError, FilterPattern.stringValue('$.message.problem', '=', 'RowUnreadable')),
  /** Stores that no longer send notifications. */
  StoreSilent: FilterPattern.all(isError, FilterPattern.stringValue('$.message.problem', '=', 'StoreSilent')),
  /** Webhook deliveries that end without success. */
  WebhookDead: FilterPattern.all(isError, FilterPattern.stringValue('$.message.problem', '=', 'WebhookDead')),
  /** Webhook URLs at which every attempt has failed for an hour. */
  WebhookUrlFailing: FilterPattern.all(
    isError,
    FilterPattern.stringValue('$.message.problem', '=', 'WebhookUrlFailing'),
  ),
} as const satisfies Record<string, JsonPattern>;

/** Creates a metric that counts the error lines of a kind in the log of a function. Several alarms can share it. */
export function createLogMetric(handler: LambdaFunction, kind: keyof typeof logPatterns, period: Duration): IMetric {
  const existing = handler.node.tryFindChild(kind) as MetricFilter | undefined;
  return (existing ?? createLogFilter(handler, kind)).metric({ period, statistic: 'Sum' });
}

/** Creates one metric of the error lines of several functions. CloudWatch bills each metric of an alarm. */
export const createGroupLogMetric = (
  handlers: readonly LambdaFunction[],
  kind: keyof typeof logPatterns,
  { group, period }: { readonly group: string; readonly period: Duration },
): IMetric | undefined =>
  handlers.map((handler) => createLogFilter(handler, kind, group))[0]?.metric({ period, statistic: 'Sum' });

const createLogFilter = (
  handler: LambdaFunction,
  kind: keyof typeof logPatterns,
  source = handler.node.scope?.node.id,
): MetricFilter =>
  new MetricFilter(handler, kind, {
    logGroup: handler.logGroup,
    filterPattern: logPatterns[kind],
    metricNamespace: getMetricNamespace(handler),
    metricName: `${source}-${kind}`,
    metricValue: '1',
  });

/**
 * Filter of the access log: requests that API Gateway rejects with 429. If a function rejects credentials with 429, the
 * status of the integration is 429 too.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
export const throttlePattern = FilterPattern.all(
  FilterPattern.stringValue('$.status', '=', '429'),
  FilterPattern.stringValue('$.integrationStatus', '!=', '429'),
);

/** Filter of the access log: requests of any client that are rejected because of their key or a limit. */
export const rejectionPattern = FilterPattern.any(
  FilterPattern.stringValue('$.status', '=', '401'),
  FilterPattern.stringValue('$.status', '=', '429'),
);

/** Creates a metric of lines of the access log: API Gateway does not have a metric for each status. */
export function createAccessLogMetric(
  accessLog: ILogGroup,
  id: 'Throttles' | 'Rejections',
  { period, filterPattern }: { readonly period: Duration; readonly filterPattern: JsonPattern },
): IMetric {
  const filter = new MetricFilter(accessLog, id, {
    logGroup: accessLog,
    filterPattern,
    metricNamespace: getMetricNamespace(accessLog),
    metricName: `stage-${id}`,
    metricValue: '1',
  });
  return filter.metric({ period, statistic: 'Sum' });
}

/** Divides the sum of metrics by the sum of others. The share is 0 while there are fewer than `minimum` in total. */
export function createShareMetric(
  parts: readonly IMetric[],
  { all, minimum, period }: { readonly all: readonly IMetric[]; readonly minimum: number; readonly period: Duration },
): IMetric {
  // CloudWatch bills each metric of an alarm.
  const metrics = [...new Set([...parts, ...all])];
  const sum = (summed: readonly IMetric[]): string =>
    summed.map((metric) => `FILL(m${metrics.indexOf(metric)}, 0)`).join(' + ');
  const [part, total] = [sum(parts), sum(all)];
  const expression = `IF(${total} >= ${minimum}, (${part}) / (${total}), 0)`;
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  return new MathExpression({ expression, usingMetrics, period });
}

/** Sums metrics. A metric without data counts as 0, because a function that never failed lacks it. */
export function createSumMetric(metrics: readonly IMetric[], period: Duration): IMetric {
  const metricsById = metrics.map((metric, index) => [`m${index}`, metric] as const);
  return new MathExpression({
    expression: metricsById.map(([id]) => `FILL(${id}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(metricsById),
    period,
  });
}

/** Creates a metric of all failures of a function: crashes, timeouts and handled internal errors. */
export const createFailureMetric = (handler: LambdaFunction, period: Duration): IMetric =>
  createSumMetric(
    [handler.metricErrors({ period, statistic: 'Sum' }), createLogMetric(handler, 'Error', period)],
    period,
  );
