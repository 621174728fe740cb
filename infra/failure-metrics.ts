import { type Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type JsonPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';

const isError = FilterPattern.stringValue('$.level', '=', 'ERROR');
const buildContainsPattern = (word: string) => FilterPattern.stringValue('$.message', '=', `*${word}*`);
const buildLacksPattern = (word: string) => FilterPattern.stringValue('$.message', '!=', `*${word}*`);

/** What functions log as errors, by what the line tells. Most failures are answered, and the platform sees none of them. */
const logPatterns = {
  /** Faults of ours, and settings that a store refuses. */
  Error: FilterPattern.all(isError, buildLacksPattern('ConnectionFailed')),
  /** Stores that cannot be asked. */
  StoreUnavailable: FilterPattern.all(isError, buildContainsPattern('ConnectionFailed')),
  /** What a store told, waiting until the store can be asked about it. */
  NotificationDelayed: FilterPattern.all(isError, buildContainsPattern('NotificationDelayed')),
} as const satisfies Record<string, JsonPattern>;

/** How often a function logged an error of a kind. */
export function createLogMetric(handler: LambdaFunction, kind: keyof typeof logPatterns, period: Duration): IMetric {
  const name = `${handler.node.scope?.node.id}-${kind}`;
  const filter = new MetricFilter(handler, kind, {
    logGroup: handler.logGroup,
    filterPattern: logPatterns[kind],
    metricNamespace: `Claimcheck/${Stack.of(handler).stackName}`,
    metricName: name,
    metricValue: '1',
  });
  return filter.metric({ period, statistic: 'Sum' });
}

/** The sum of metrics of which some may have no data, as a function that never failed has none. */
export function createSumMetric(metrics: readonly IMetric[], period: Duration): IMetric {
  const named = metrics.map((metric, index) => [`m${index}`, metric] as const);
  return new MathExpression({
    expression: named.map(([name]) => `FILL(${name}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(named),
    period,
  });
}

/** Crashes and time-outs of a function, and the faults that it answered. */
export const createFailureMetric = (handler: LambdaFunction, period: Duration): IMetric =>
  createSumMetric(
    [handler.metricErrors({ period, statistic: 'Sum' }), createLogMetric(handler, 'Error', period)],
    period,
  );
