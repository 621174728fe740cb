import type { StoreRequestSample } from './store-activity.ts';

const counted = { Name: 'StoreRequests', Unit: 'Count' };
const timed = { Name: 'StoreDuration', Unit: 'Milliseconds' };

/**
 * Formats the requests to a store for CloudWatch, which reads metrics from the log without a request: a line for each
 * outcome, with the durations of usable responses. A metric has at most 100 values.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function formatMetrics(namespace: string, sample: StoreRequestSample): string[] {
  const { platform: Store, date, numRequests, numFailures, durationsMs } = sample;
  const format = (Outcome: string, Metrics: readonly object[], values: object): string => {
    const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [['Store', 'Outcome']], Metrics }];
    return JSON.stringify({ _aws: { Timestamp: date, CloudWatchMetrics }, Store, Outcome, ...values });
  };
  const usable = { StoreRequests: numRequests - numFailures, StoreDuration: durationsMs };
  return [
    ...(durationsMs.length > 0 ? [format('ok', [counted, timed], usable)] : []),
    ...(numFailures > 0 ? [format('failed', [counted], { StoreRequests: numFailures })] : []),
  ];
}
