import { type Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type JsonPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';

const isError = FilterPattern.stringValue('$.level', '=', 'ERROR');
const tellsOf = (word: string) => FilterPattern.stringValue('$.message', '=', `*${word}*`);
const tellsNotOf = (word: string) => FilterPattern.stringValue('$.message', '!=', `*${word}*`);

/** What functions log as errors, by what the line tells. Most failures are answered, and the platform sees none of them. */
const kinds = {
  /** Faults of ours, and settings that a store refuses. */
  Fault: FilterPattern.all(isError, tellsNotOf('ConnectionFailed')),
  /** Stores that cannot be asked. */
  Unreachable: FilterPattern.all(isError, tellsOf('ConnectionFailed')),
  /** What a store told, waiting until the store can be asked about it. */
  Late: FilterPattern.all(isError, tellsOf('NotificationLate')),
} as const satisfies Record<string, JsonPattern>;

/** How often a function logged an error of a kind. */
export function logged(handler: LambdaFunction, kind: keyof typeof kinds, period: Duration): IMetric {
  const name = `${handler.node.scope?.node.id}-${kind}`;
  const filter = new MetricFilter(handler, kind, {
    logGroup: handler.logGroup,
    filterPattern: kinds[kind],
    metricNamespace: `Claimcheck/${Stack.of(handler).stackName}`,
    metricName: name,
    metricValue: '1',
  });
  return filter.metric({ period, statistic: 'Sum' });
}

/** The sum of metrics of which some may have no data, as a function that never failed has none. */
export function sumOf(metrics: readonly IMetric[], period: Duration): IMetric {
  const named = metrics.map((metric, index) => [`m${index}`, metric] as const);
  return new MathExpression({
    expression: named.map(([name]) => `FILL(${name}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(named),
    period,
  });
}

/** Crashes and time-outs of a function, and the faults that it answered. */
export const failuresOf = (handler: LambdaFunction, period: Duration): IMetric =>
  sumOf([handler.metricErrors({ period, statistic: 'Sum' }), logged(handler, 'Fault', period)], period);
