import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { createApiMetric } from './api-metrics.ts';
import { getMetricNamespace } from './code-stack.ts';
import type { Queues } from './queues.ts';

interface DashboardProps {
  /** Functions by contract id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  /** Functions by endpoint id. */
  readonly notificationEndpoints: ReadonlyMap<string, LambdaFunction>;
  /** Functions by worker id. */
  readonly workers: ReadonlyMap<string, LambdaFunction>;
  readonly queues: Queues;
  readonly serverErrors: IMetric;
  readonly tableThrottles: IMetric;
}

const period = Duration.minutes(5);
const sum = { period, statistic: 'Sum' } as const;
const maximum = { period, statistic: 'Maximum' } as const;
const p95 = { period, statistic: 'p95' } as const;

/** A CloudWatch dashboard of requests, validations, queues, streams, webhooks and stores. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const { serverErrors, tableThrottles } = props;
    const dashboard = new CloudWatchDashboard(this, 'Dashboard');
    dashboard.applyRemovalPolicy(RemovalPolicy.DESTROY);
    dashboard.addWidgets(
      new GraphWidget({
        title: 'Requests and server errors',
        left: [createApiMetric(this, 'Count', sum)],
        right: [serverErrors],
      }),
      new GraphWidget({ title: 'Latency, 95th percentile', left: [createApiMetric(this, 'Latency', p95)] }),
      new GraphWidget({ title: 'Table throttles', left: [tableThrottles] }),
    );
    dashboard.addWidgets(...buildQueueWidgets(props.queues));
    dashboard.addWidgets(...buildFunctionWidgets(props));
    dashboard.addWidgets(...buildStoreWidgets(getMetricNamespace(this)));
  }
}

/** Metrics that functions write to their logs: see lib/events/store-activity-table.ts. */
const buildStoreWidgets = (namespace: string): GraphWidget[] =>
  (
    [
      ['Requests to stores by outcome', 'StoreRequests', 'Sum'],
      ['Duration of requests to stores in milliseconds, 95th percentile', 'StoreDuration', 'p95'],
    ] as const
  ).map(([title, metric, statistic]) => {
    const search = `{"${namespace}",Store,Outcome} MetricName="${metric}"`;
    const expression = `SEARCH('${search}', '${statistic}', ${period.toSeconds()})`;
    return new GraphWidget({ title, left: [new MathExpression({ expression, period, label: '' })] });
  });

function buildQueueWidgets({ queues, streamFailures }: Queues): GraphWidget[] {
  const entries = Object.entries(queues);
  return [
    new GraphWidget({
      title: 'Age of the oldest message in seconds',
      left: entries.map(([label, { queue }]) => queue.metricApproximateAgeOfOldestMessage({ ...maximum, label })),
    }),
    new GraphWidget({
      title: 'Messages in dead-letter queues',
      left: [
        ...entries.map(([label, { deadLetterQueue }]) =>
          deadLetterQueue.metricApproximateNumberOfMessagesVisible({ ...maximum, label }),
        ),
        streamFailures.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'stream records' }),
      ],
    }),
  ];
}

function buildFunctionWidgets({ functions, notificationEndpoints, workers }: DashboardProps): GraphWidget[] {
  const pick = (ids: readonly string[], from: DashboardProps['workers']) =>
    ids.flatMap((id): [string, LambdaFunction][] => {
      const handler = from.get(id);
      return handler ? [[id, handler]] : [];
    });
  const validation = pick(['validate-receipt'], functions);
  const streams = pick(['fan-out-webhooks', 'aggregate-statistics'], workers);
  const webhooks = pick(['fan-out-webhooks', 'send-webhook'], workers);
  const stores = [...notificationEndpoints, ...pick(['process-notification', 'refresh-purchase'], workers)];
  return [
    new GraphWidget({
      title: 'Validations',
      left: validation.map(([, handler]) => handler.metricInvocations(sum)),
      right: validation.flatMap(([, handler]) => [handler.metricErrors(sum), handler.metricDuration(p95)]),
    }),
    new GraphWidget({
      title: 'Age of stream records in milliseconds',
      left: streams.map(([label, handler]) => handler.metric('IteratorAge', { ...maximum, label })),
    }),
    new GraphWidget({
      title: 'Webhooks',
      left: webhooks.map(([label, handler]) => handler.metricInvocations({ ...sum, label })),
      right: webhooks.map(([label, handler]) => handler.metricErrors({ ...sum, label: `${label} errors` })),
    }),
    new GraphWidget({
      title: 'Stores',
      left: stores.map(([label, handler]) => handler.metricInvocations({ ...sum, label })),
      right: stores.map(([label, handler]) => handler.metricDuration({ ...p95, label: `${label} p95` })),
    }),
  ];
}
