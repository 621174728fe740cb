import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { listApps } from '../../../lib/apps/app-list-table.ts';
import { setStoreSettings } from '../../../lib/apps/store-settings-table.ts';
import { toActivityItem } from '../../../lib/events/store-activity-table.ts';
import { addDays } from '../../../lib/foundation/calendar.ts';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import { dayMs, hourMs } from '../../../lib/foundation/time.ts';
import { toUtcDay } from '../../../lib/money/rates.ts';
import { createRhythmList, findSilence } from '../../../lib/problems/read-store-states.ts';
import { reportSilentStores } from '../../../lib/problems/report-silent-stores.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { toReceivedName } from '../../../lib/statistics/counter-names.ts';
import { replaceCounts } from '../../../lib/statistics/counter-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const platform = 'store_b';

/** Counts notifications of days before `startDate`, the last one on that day. */
async function givenCounts(counts: readonly number[]) {
  const service = createService(await createTestTable());
  const appName = createUniqueName();
  const first = addDays(toUtcDay(startDate), 1 - counts.length);
  const corrections = counts.map((count, index) => ({
    period: addDays(first, index),
    change: () => (count > 0 ? { [toReceivedName(platform)]: count } : {}),
  }));
  for (const correction of corrections) await replaceCounts(service, appName, [correction]);
  const last = { platform, kind: 'notification', date: startDate } as const;
  return async (hours: number) => {
    const now = startDate + hours * hourMs;
    return await findSilence(last, { now, listCounters: createRhythmList({ ...service, now: () => now }, appName) });
  };
}

const repeat = (count: number, days: number): number[] => Array.from({ length: days }, () => count);
const since = new Date(startDate).toISOString();

describe('findSilence', () => {
  it.each([
    ['daily notifications', repeat(3, 10), 24],
    ['notifications on every third day', repeat(0, 24).map((_zero, day) => (day % 3 === 2 ? 2 : 0)), 72],
    ['500 notifications a day', [1, ...repeat(500, 10), 1], 3],
    ['fewer than 500 notifications on one day', [1, ...repeat(500, 8), 499, 1], 24],
  ])('finds the silence after twice the usual time: %s', async (_case, counts, usualHours) => {
    const find = await givenCounts(counts);
    expect(await find(2 * usualHours - 1)).toBeUndefined();
    expect(await find(2 * usualHours)).toEqual({ since, usualHours });
  });

  it('finds no silence without a rhythm, or after the rhythm has left the window', async () => {
    expect(await (await givenCounts(repeat(3, 7)))(100)).toBeUndefined();
    expect(await (await givenCounts(repeat(3, 28)))(21 * 24)).toBeUndefined();
  });
});

describe('reportSilentStores', () => {
  it('logs a connected store that the aggregator has counted, until it sends a notification', async () => {
    const error = jest.spyOn(console, 'error').mockImplementation(() => {});
    // The worker reads all apps of a table.
    const table = await createTestTable(createUniqueName('silent'));
    const service = createService(table);
    const { appName } = await givenApp(table);
    await setStoreSettings(service, appName, platform, {});
    const dates = [...repeat(0, 9)].map((_zero, day) => startDate - day * dayMs);
    const records = dates.toReversed().map((date, position) => {
      const key = keys.eventKey(appName, createEventId(date));
      return buildStreamRecord({ after: { ...key, date, type: `webhook.${platform}.called` } }, position);
    });
    await aggregateStreamRecords(service, records, 'shard');
    const report = async (date: number): Promise<readonly unknown[]> => {
      await table.batchPut([toActivityItem(appName, { platform, kind: 'notification', date })]);
      error.mockClear();
      await reportSilentStores({ ...service, now: () => startDate + 2 * dayMs }, (await listApps(service)).apps);
      return error.mock.calls.flat();
    };
    expect(await report(startDate)).toEqual([
      expect.objectContaining({
        problem: 'StoreSilent',
        app: appName,
        message: `Google Play has sent no notification since ${since}.`,
      }),
    ]);
    expect(await report(startDate + dayMs)).toEqual([]);
  });
});
