import { beforeEach, describe, expect, it } from '@jest/globals';
import { markerLogKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Item } from '../../../lib/foundation/table.ts';
import { hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { readCountedUntil, writeMarkers } from '../../../lib/statistics/counted-until-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

let service: Service;
let time: number;
beforeEach(async () => {
  time = startDate;
  service = createService(await createTestTable(createUniqueName('markers')), { now: () => time });
});

/** Writes the markers of a minute, and returns them. */
async function writeMinute(minute: number): Promise<Item[]> {
  time = startDate + minute * minuteMs;
  const before = await listMarkers();
  await writeMarkers(service);
  return (await listMarkers()).filter(({ pk }) => !before.some((marker) => marker.pk === pk));
}

async function listMarkers(): Promise<Item[]> {
  const { groups = [] } = ((await service.table.get(markerLogKey())) ?? {}) as {
    groups?: readonly { readonly markers: readonly { pk: string; sk: string }[] }[];
  };
  return await service.table.batchGet(groups.flatMap(({ markers }) => markers));
}

const pass = async (markers: readonly Item[]): Promise<void> =>
  await aggregateStreamRecords(
    service,
    markers.map((after, position) => buildStreamRecord({ after }, position)),
    createUniqueName('shard'),
  );

const readMinutes = async (): Promise<number> => (Date.parse(await readCountedUntil(service)) - startDate) / minuteMs;

describe('readCountedUntil', () => {
  it('returns the current time before the first markers', async () => {
    time = startDate + 7 * minuteMs;
    expect(await readMinutes()).toBe(7);
  });

  it('returns the time of the latest markers that the aggregator has passed', async () => {
    const first = await writeMinute(0);
    const second = await writeMinute(1);
    expect([first.length, second.length]).toEqual([8, 8]);
    await pass(first);
    expect(await readMinutes()).toBe(0);
    await pass(second);
    expect(await readMinutes()).toBe(1);
    await writeMinute(2);
    expect(await readMinutes()).toBe(1);
  });

  it('waits for the shard that is the latest', async () => {
    const [late, ...others] = await writeMinute(0);
    await pass(others);
    for (const minute of [1, 2, 3]) await pass(await writeMinute(minute));
    expect(await readMinutes()).toBe(0);
    await pass([late as Item]);
    expect(await readMinutes()).toBe(3);
  });

  it('writes at most 96 markers while the aggregator stands still', async () => {
    for (let minute = 0; minute < 15; minute++) await writeMinute(minute);
    const waiting = await listMarkers();
    expect(waiting).toHaveLength(96);
    expect(await readMinutes()).toBe(0);
    await pass(waiting);
    expect(await readMinutes()).toBe(11);
    await pass(await writeMinute(20));
    expect(await readMinutes()).toBe(20);
  });

  it('continues after the clock is moved back', async () => {
    await pass(await writeMinute(90));
    time = startDate;
    expect(await readMinutes()).toBe(0);
    await pass(await writeMinute(1));
    expect(await readMinutes()).toBe(1);
  });

  it('continues after markers that the stream no longer has', async () => {
    await writeMinute(0);
    time += 25 * hourMs;
    await pass(await writeMinute(25 * 60));
    expect(await readMinutes()).toBe(25 * 60);
  });
});
