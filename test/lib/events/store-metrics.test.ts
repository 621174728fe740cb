import { describe, expect, it } from '@jest/globals';
import { saveEvent } from '../../../lib/events/event-table.ts';
import { formatMetrics, type MetricLine } from '../../../lib/foundation/metrics.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

const call = (status: number, durationMs: number) => ({
  type: 'fetch',
  platform: 'store_b' as const,
  url: 'https://androidpublisher.googleapis.com/androidpublisher/v3/applications/app/purchases',
  method: 'GET',
  response: { status, size: 0 },
  timing: { startedAt: startDate, endedAt: startDate + durationMs },
});

/** Saves an event with the calls, and returns the written metrics. */
async function saveCalls(calls: readonly ReturnType<typeof call>[]): Promise<MetricLine[]> {
  const lines: MetricLine[] = [];
  const service = createService(await createTestTable(), { writeMetrics: (line) => void lines.push(line) });
  const event = {
    eventId: createUniqueName(),
    reqId: 'r',
    type: 'receipt.validated',
    date: startDate,
    outcome: { status: 200, ok: true },
    content: { tags: {}, refreshFailures: [] },
  } as unknown as Parameters<typeof saveEvent>[2];
  await saveEvent(service, createUniqueName(), event, { request: {}, response: {}, externalRequests: [...calls] });
  return lines;
}

describe('the metrics of stores', () => {
  it('have the number of requests by outcome, and the durations of usable responses', async () => {
    const lines = await saveCalls([call(200, 30), call(404, 40), call(503, 9_000)]);
    const date = startDate + 9_000;
    expect(lines).toEqual([
      {
        date,
        dimensions: { Store: 'store_b', Outcome: 'ok' },
        metrics: { StoreRequests: ['Count', 2], StoreDuration: ['Milliseconds', [30, 40]] },
      },
      { date, dimensions: { Store: 'store_b', Outcome: 'failed' }, metrics: { StoreRequests: ['Count', 1] } },
    ]);
  });

  it('have at most 100 values, which is the limit of CloudWatch', async () => {
    const [line] = await saveCalls(Array.from({ length: 120 }, () => call(200, 30)));
    expect(line?.metrics.StoreRequests).toEqual(['Count', 120]);
    expect(line?.metrics.StoreDuration?.[1]).toHaveLength(100);
  });

  it('are formatted with the names of the dimensions and metrics beside their values', () => {
    const line = formatMetrics('Claimcheck/Test', {
      date: startDate,
      dimensions: { Store: 'store_b', Outcome: 'ok' },
      metrics: { StoreRequests: ['Count', 2], StoreDuration: ['Milliseconds', [30, 40]] },
    });
    expect(JSON.parse(line)).toEqual({
      _aws: {
        Timestamp: startDate,
        CloudWatchMetrics: [
          {
            Namespace: 'Claimcheck/Test',
            Dimensions: [['Store', 'Outcome']],
            Metrics: [
              { Name: 'StoreRequests', Unit: 'Count' },
              { Name: 'StoreDuration', Unit: 'Milliseconds' },
            ],
          },
        ],
      },
      Store: 'store_b',
      Outcome: 'ok',
      StoreRequests: 2,
      StoreDuration: [30, 40],
    });
    expect(line).not.toContain('\n');
  });
});
