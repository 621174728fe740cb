import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type ILogGroup, type JsonPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { getServiceName } from './code-stack.ts';

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
  /** Webhook deliveries that end without success. */
  WebhookDead: FilterPattern.all(isError, FilterPattern.stringValue('$.message.problem', '=', 'WebhookDead')),
} as const satisfies Record<string, JsonPattern>;

/** Creates a metric that counts the error lines of a kind in the log of a function. Several alarms can share it. */
export function createLogMetric(handler: LambdaFunction, kind: keyof typeof logPatterns, period: Duration): IMetric {
  const existing = handler.node.tryFindChild(kind) as MetricFilter | undefined;
  return (existing ?? createLogFilter(handler, kind)).metric({ period, statistic: 'Sum' });
}

const createLogFilter = (handler: LambdaFunction, kind: keyof typeof logPatterns): MetricFilter =>
  new MetricFilter(handler, kind, {
    logGroup: handler.logGroup,
    filterPattern: logPatterns[kind],
    metricNamespace: `Claimcheck/${getServiceName(handler)}`,
    metricName: `${handler.node.scope?.node.id}-${kind}`,
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

/** Creates a metric of the requests that API Gateway rejects with 429: it does not have a metric for them. */
export function createThrottleMetric(accessLog: ILogGroup, period: Duration): IMetric {
  const filter = new MetricFilter(accessLog, 'Throttles', {
    logGroup: accessLog,
    filterPattern: throttlePattern,
    metricNamespace: `Claimcheck/${getServiceName(accessLog)}`,
    metricName: 'stage-Throttles',
    metricValue: '1',
  });
  return filter.metric({ period, statistic: 'Sum' });
}

/** Sums metrics. A metric without data counts as 0, because a function that never failed has none. */
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
