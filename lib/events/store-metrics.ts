import type { MetricLine } from '../foundation/metrics.ts';
import type { StoreRequestSample } from './store-activity.ts';

/** Lists the metrics of the requests to a store: numbers by outcome, and durations of usable responses. */
export const listMetrics = ({ platform, date, ...sample }: StoreRequestSample): MetricLine[] =>
  [
    { Outcome: 'ok', count: sample.numRequests - sample.numFailures, durations: sample.durationsMs },
    { Outcome: 'failed', count: sample.numFailures, durations: [] },
  ]
    .filter(({ count }) => count > 0)
    .map(({ Outcome, count, durations }) => ({
      date,
      dimensions: { Store: platform, Outcome },
      metrics: {
        StoreRequests: ['Count', count],
        ...(durations.length > 0 && { StoreDuration: ['Milliseconds', durations] as const }),
      },
    }));
