/** A dimension set with its values, and the metrics of it with their units and values. */
export interface MetricLine {
  readonly date: number;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly metrics: Readonly<
    Record<string, readonly [unit: 'Count' | 'Milliseconds', value: number | readonly number[]]>
  >;
}

export type WriteMetrics = (line: MetricLine) => void;

/**
 * Formats metrics for CloudWatch, which reads them from the log without a request. A metric has at most 100 values.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export const formatMetrics = (namespace: string, { date, dimensions, metrics }: MetricLine): string =>
  JSON.stringify({
    _aws: {
      Timestamp: date,
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: [Object.keys(dimensions)],
          Metrics: Object.entries(metrics).map(([Name, [Unit]]) => ({ Name, Unit })),
        },
      ],
    },
    ...dimensions,
    ...Object.fromEntries(Object.entries(metrics).map(([name, [, value]]) => [name, value])),
  });

/** Writes past `console`, which Lambda wraps in an object that CloudWatch does not read metrics from. */
export const createMetricWriter =
  (namespace: string): WriteMetrics =>
  (line) =>
    void process.stdout.write(`${formatMetrics(namespace, line)}\n`);
