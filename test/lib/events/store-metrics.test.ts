import { describe, expect, it } from '@jest/globals';
import { saveEvent } from '../../../lib/events/event-table.ts';
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

/** Saves an event with the calls, and returns the lines of the metrics. */
async function saveCalls(calls: readonly ReturnType<typeof call>[]): Promise<unknown[]> {
  const written: string[] = [];
  const metrics = { namespace: 'Claimcheck/Test', write: (lines: readonly string[]) => void written.push(...lines) };
  const service = createService(await createTestTable(), { metrics });
  const event = {
    eventId: createUniqueName(),
    reqId: 'r',
    type: 'receipt.validated',
    date: startDate,
    outcome: { status: 200, ok: true },
    content: { tags: {}, refreshFailures: [] },
  } as unknown as Parameters<typeof saveEvent>[2];
  await saveEvent(service, createUniqueName(), event, { request: {}, response: {}, externalRequests: [...calls] });
  expect(written.join('')).not.toContain('\n');
  return written.map((line) => JSON.parse(line));
}

const describeMetrics = (Metrics: readonly object[]) => ({
  _aws: {
    Timestamp: startDate + 9_000,
    CloudWatchMetrics: [{ Namespace: 'Claimcheck/Test', Dimensions: [['Store', 'Outcome']], Metrics }],
  },
});

describe('store metrics', () => {
  it('contain the number of requests by outcome, and the durations of usable responses', async () => {
    const counted = { Name: 'StoreRequests', Unit: 'Count' };
    const timed = { Name: 'StoreDuration', Unit: 'Milliseconds' };
    expect(await saveCalls([call(200, 30), call(404, 40), call(503, 9_000)])).toEqual([
      {
        ...describeMetrics([counted, timed]),
        Store: 'store_b',
        Outcome: 'ok',
        StoreRequests: 2,
        StoreDuration: [30, 40],
      },
      { ...describeMetrics([counted]), Store: 'store_b', Outcome: 'failed', StoreRequests: 1 },
    ]);
  });

  it('contain at most 100 values, which is the limit of CloudWatch', async () => {
    const [line] = await saveCalls(Array.from({ length: 120 }, () => call(200, 30)));
    expect(line).toMatchObject({ StoreRequests: 120, StoreDuration: Array.from({ length: 100 }, () => 30) });
  });
});
