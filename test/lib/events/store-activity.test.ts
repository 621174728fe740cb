import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createSampleCollector,
  type StoreRequestSample,
  sampleStoreRequests,
} from '../../../lib/events/store-activity-table.ts';
import { hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { startDate } from '../../../testing/given.ts';

const createSample = (date: number, numFailures = 0): StoreRequestSample => ({
  platform: 'store_a',
  date,
  numRequests: 1,
  numFailures,
  durationsMs: numFailures > 0 ? [] : [20],
});

describe('sampleStoreRequests', () => {
  it.each([
    ['https://oauth2.googleapis.com/token', 400, 1],
    ['https://login.microsoftonline.com/tenant/oauth2/token', 401, 1],
    ['https://oauth2.googleapis.com/token', 200, 0],
    ['https://androidpublisher.googleapis.com/androidpublisher/v3/applications/app/purchases', 400, 0],
    ['https://androidpublisher.googleapis.com/androidpublisher/v3/applications/app/purchases', 404, 0],
    ['https://androidpublisher.googleapis.com/androidpublisher/v3/applications/app/purchases', 403, 1],
  ])('counts %s with status %p as %p failures', (url, status, numFailures) => {
    const call = {
      type: 'fetch',
      platform: 'store_b' as const,
      url,
      method: 'POST',
      response: { status, size: 0 },
      timing: { startedAt: startDate, endedAt: startDate },
    };
    const [sample] = sampleStoreRequests({ request: {}, response: {}, externalRequests: [call] });
    expect(sample).toMatchObject({ numRequests: 1, numFailures });
  });
});

describe('createSampleCollector', () => {
  it('returns at most one sum a minute, and one more for the first failure, without losing a request', () => {
    const request = fc.record({ elapsedMs: fc.integer({ min: 0, max: minuteMs }), isFailed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 40 }), (requests) => {
        const collect = createSampleCollector();
        let date = startDate;
        const sums = requests.flatMap(({ elapsedMs, isFailed }) => {
          date += elapsedMs;
          return collect('app', [createSample(date, isFailed ? 1 : 0)]);
        });
        for (const { date: start } of sums) {
          const inMinute = sums.filter((sum) => sum.date >= start && sum.date < start + minuteMs);
          expect(inMinute.length).toBeLessThanOrEqual(3);
        }
        sums.push(...collect('app', [createSample(date + minuteMs)]));
        const total = sums.reduce((count, { numRequests }) => count + numRequests, 0);
        expect(total).toBe(requests.length + 1);
        const failed = sums.reduce((count, { numFailures }) => count + numFailures, 0);
        expect(failed).toBe(requests.filter(({ isFailed }) => isFailed).length);
      }),
    );
  });

  it('returns one sum for all usable responses of a minute', () => {
    const collect = createSampleCollector();
    const sums = Array.from({ length: 60 }, (_, second) => collect('app', [createSample(startDate + second * 1_000)]));
    expect(sums.flat()).toEqual([createSample(startDate)]);
    expect(collect('app', [createSample(startDate + minuteMs)])).toEqual([
      { ...createSample(startDate + minuteMs), numRequests: 60, durationsMs: Array(60).fill(20) },
    ]);
  });

  it('keeps the time of requests that another one follows hours later', () => {
    const collect = createSampleCollector();
    for (const ms of [0, 1, 2]) collect('app', [createSample(startDate + ms, 1)]);
    expect(collect('app', [createSample(startDate + 5 * hourMs)])).toMatchObject([
      { date: startDate + 2, numRequests: 2, numFailures: 2 },
      { date: startDate + 5 * hourMs, numRequests: 1, numFailures: 0 },
    ]);
  });

  it('returns the first failure immediately', () => {
    const collect = createSampleCollector();
    collect('app', [createSample(startDate)]);
    expect(collect('app', [createSample(startDate + 1, 1)])).toEqual([createSample(startDate + 1, 1)]);
    expect(collect('app', [createSample(startDate + 2, 1)])).toEqual([]);
  });
});
