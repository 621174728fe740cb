import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventRecord } from '../../../lib/events/event.ts';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { saveEvent } from '../../../lib/events/event-table.ts';
import { createEventTail, searchBounds } from '../../../lib/events/tail-events.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { hourMs, minuteMs, secondMs } from '../../../lib/foundation/time.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { createTestTable } from '../../../testing/table.ts';

let now = startDate;
let service: Service;
beforeAll(async () => {
  service = createService(await createTestTable(), { now: () => now });
});

const createEvent = (date: number): EventRecord =>
  createEventRecorder({ type: 'receipt.validated', date }).finish({
    request: {},
    response: {},
    outcome: { status: 200, ok: true },
  }).event;

const startTail = (appName: string, options: { startdate?: number; limit: number }) =>
  createEventTail(service, appName, { ...options, follow: true });

describe('createEventTail', () => {
  it('searches backwards for the newest events that match, among many others', async () => {
    now = startDate;
    const appName = createUniqueName();
    const matching = await Promise.all(
      [5, 4, 3].map(async (index) => {
        const event = { ...createEvent(startDate - 4 * secondMs - index), type: 'webhook.app.called' as const };
        await saveEvent(service, appName, event);
        return event.eventId;
      }),
    );
    // Several events of each millisecond, more than one page of the search.
    const others = Array.from({ length: 110 }, (_, index) => createEvent(startDate - secondMs - (index % 30)));
    await Promise.all(others.map((event) => saveEvent(service, appName, event)));
    const matches = ({ type }: EventRecord): boolean => type === 'webhook.app.called';
    const searching = { ...service, container: {} };
    Object.assign(searchBounds(searching), { pageSize: 100 });
    const tail = createEventTail(searching, appName, { limit: 2, follow: false, matches });
    expect((await tail.poll()).map(({ eventId }) => eventId)).toEqual(matching.slice(1));
  });

  it('reports that the search ended before the first event', async () => {
    const limits: number[] = [];
    now = startDate;
    const appName = createUniqueName();
    const events = Array.from({ length: 60 }, (_, index) => createEvent(startDate - 1 - index));
    await Promise.all(events.map((event) => saveEvent(service, appName, event)));
    const options = {
      limit: 1,
      follow: false,
      matches: () => false,
      onSearchLimit: (count: number) => limits.push(count),
    };
    const searching = { ...service, container: {} };
    Object.assign(searchBounds(searching), { pageSize: 10, maxSearched: 50 });
    const tail = createEventTail(searching, appName, options);
    expect(await tail.poll()).toEqual([]);
    // Each page repeats the last event of the page before: others can have its millisecond.
    expect(limits).toEqual([55]);
  });

  it('returns every event once, in any order in which events become visible', async () => {
    // Time until the next event is visible, its delay, and whether the tail is polled after it.
    const step = fc.record({
      elapsedMs: fc.integer({ min: 0, max: 20 * secondMs }),
      delayMs: fc.oneof(
        fc.integer({ min: 0, max: 2 * minuteMs }),
        fc.integer({ min: 2 * minuteMs, max: hourMs - 3 * minuteMs }),
      ),
      isPolled: fc.boolean(),
      isRewritten: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        now = startDate;
        const appName = createUniqueName();
        const tail = startTail(appName, { limit: 20 });
        expect(await tail.poll()).toEqual([]);
        const saved: string[] = [];
        const returned: string[] = [];
        const poll = async () => returned.push(...(await tail.poll()).map(({ eventId }) => eventId));
        for (const { elapsedMs, delayMs, isPolled, isRewritten } of steps) {
          now += elapsedMs;
          const event = createEvent(now - delayMs);
          await saveEvent(service, appName, event);
          saved.push(event.eventId);
          if (isPolled) await poll();
          if (isRewritten) await saveEvent(service, appName, event);
        }
        // The next read that covers the maximum delay.
        now += minuteMs;
        await poll();
        expect(returned.sort()).toEqual(saved.sort());
      }),
      sampleRuns({ sample: 3, full: 30 }),
    );
  });

  it('starts with the newest events, oldest first, and does not return earlier ones later', async () => {
    now = startDate;
    const appName = createUniqueName();
    const existing = [3, 2, 1].map((minutes) => createEvent(now - minutes * minuteMs));
    for (const event of existing) await saveEvent(service, appName, event);
    const tail = startTail(appName, { limit: 2 });
    expect(await tail.poll()).toEqual(existing.slice(1));
    now += minuteMs;
    expect(await tail.poll()).toEqual([]);
  });

  it('starts with all events since a date', async () => {
    now = startDate;
    const appName = createUniqueName();
    const existing = [30, 20, 10].map((hours) => createEvent(now - hours * hourMs));
    for (const event of existing) await saveEvent(service, appName, event);
    const tail = startTail(appName, { startdate: now - 20 * hourMs, limit: 1 });
    expect(await tail.poll()).toEqual(existing.slice(1));
    expect(await tail.poll()).toEqual([]);
  });
});
