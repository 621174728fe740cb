import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventSearchResult } from '../../../lib/api/event-records.ts';
import { createEventRepository, type EventRepository } from '../../../lib/db/event-repository.ts';
import { eventIndexKeys } from '../../../lib/db/keys.ts';
import type { Table } from '../../../lib/db/table.ts';
import type { EventRecord } from '../../../lib/events/event.ts';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { toSearchResult } from '../../../lib/events/to-event-results.ts';
import { fitRowsToResponse } from '../../../lib/http/fit-event-rows.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let events: EventRepository;
beforeAll(async () => {
  table = await createTestTable();
  events = createEventRepository(table, 90, () => startDate);
});

function eventAt(date: number, eventId: string = randomUUID(), of: { user?: string; ok?: boolean } = {}): EventRecord {
  const recorder = createEventRecorder({ type: 'receipt.validated', date, eventId });
  if (of.user !== undefined) recorder.setUser(of.user);
  const ok = of.ok ?? true;
  return recorder.finish({ request: {}, response: {}, outcome: { status: ok ? 200 : 400, ok } }).event;
}

/** An id whose event is listed in the shard. */
function idInShard(shard: number): string {
  for (;;) {
    const id = randomUUID();
    if (eventIndexKeys('a', id, startDate).createdPk === `a#E#${shard}`) return id;
  }
}

describe('the list of events', () => {
  it('is in order however unevenly the shards are filled, and gives every event on exactly one page', async () => {
    const shards = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 40 });
    // Most events in one shard: the shares of the others do not tell how far to read.
    const skewed = fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 60 }), shards);
    const page = fc.integer({ min: 1, max: 25 });
    await fc.assert(
      fc.asyncProperty(skewed, page, async ([busy, count, others], limit) => {
        const appName = createUniqueName();
        const ids = [...Array<number>(count).fill(busy), ...others].map(idInShard);
        await Promise.all(ids.map((id, index) => events.save(appName, eventAt(startDate + index, id))));
        const pages: string[] = [];
        for (let skip = 0; skip <= ids.length; skip += limit) {
          const batch = await events.list(appName, { limit, skip });
          expect(batch.length).toBe(Math.min(limit, ids.length - skip));
          pages.push(...batch.map(({ eventId }) => eventId));
        }
        expect(pages).toEqual(ids.reverse());
      }),
      { numRuns: 12 },
    );
  }, 60_000);

  it('of 1,000 of many reads little more of the index than it shows', async () => {
    const appName = createUniqueName();
    const all = Array.from({ length: 1600 }, (_, index) => eventAt(startDate + index));
    await Promise.all(all.map((event) => events.save(appName, event)));
    const before = table.consumed.read;
    expect(await events.list(appName, { limit: 1000, skip: 0 })).toHaveLength(1000);
    // Half a unit for each event, and about 32 for the entries of the index.
    expect(table.consumed.read - before).toBeLessThan(550);
  }, 60_000);
});

describe('the latest events with a tag', () => {
  it('are not those that had it before their work was done again', async () => {
    const appName = createUniqueName();
    for (let index = 0; index < 250; index++) {
      await events.save(appName, eventAt(startDate + index, `again-${index}`, { ok: false }));
      if (index >= 20) await events.save(appName, eventAt(startDate + index, `again-${index}`));
    }
    const found = await events.listByTags(appName, ['error'], 10);
    expect(found.map(({ eventId }) => eventId)).toEqual(Array.from({ length: 10 }, (_, ago) => `again-${19 - ago}`));
    expect(found.map(({ outcome }) => outcome.ok)).not.toContain(true);
  }, 60_000);

  it('are newest first and each there once, whichever of the tags they have', async () => {
    const appName = createUniqueName();
    const anyTags = fc.array(fc.subarray(['one', 'two'], { minLength: 1 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(anyTags, fc.integer({ min: 1, max: 8 }), async (tagged, limit) => {
        const [one, two] = [createUniqueName(), createUniqueName()];
        const ids = tagged.map(() => randomUUID());
        for (const [index, tags] of tagged.entries()) {
          const recorder = createEventRecorder({
            type: 'receipt.validated',
            date: startDate + index,
            eventId: ids[index] ?? '',
          });
          for (const tag of tags) recorder.addTag(tag === 'one' ? one : two, '_P');
          const { event } = recorder.finish({ request: {}, response: {}, outcome: { status: 200, ok: true } });
          await events.save(appName, event);
        }
        const found = await events.listByTags(appName, [one, two], limit);
        expect(found.map(({ eventId }) => eventId)).toEqual(ids.reverse().slice(0, limit));
      }),
      { numRuns: 12 },
    );
  }, 60_000);

  it.each(['__proto__', 'constructor', 'prototype', 'toString', '長'.repeat(300), 'x'.repeat(1_001)])(
    'are found by %s',
    async (user) => {
      const appName = createUniqueName();
      await events.save(appName, eventAt(startDate, 'of-user', { user }));
      expect(await events.listByTags(appName, [user], 10)).toMatchObject([{ eventId: 'of-user' }]);
    },
  );
});

describe('the latest events of a user', () => {
  const record = async (appName: string, users: readonly (string | undefined)[], ok = false) => {
    const all = users.map((user, index) => eventAt(startDate + index, randomUUID(), { ...(user && { user }), ok }));
    await Promise.all(all.map((event) => events.save(appName, event)));
    return all.filter(({ applicationUsername }) => applicationUsername === 'error').map(({ eventId }) => eventId);
  };
  const idsOf = (found: readonly EventRecord[]) => found.map(({ eventId }) => eventId);

  it('are those of nobody else, however the failures of others lie among them', async () => {
    const anyUsers = fc.array(fc.constantFrom('error', 'ann', undefined), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(anyUsers, fc.integer({ min: 1, max: 12 }), async (users, limit) => {
        const appName = createUniqueName();
        const own = await record(appName, users);
        expect(idsOf(await events.listByUser(appName, 'error', limit))).toEqual(own.reverse().slice(0, limit));
      }),
      { numRuns: 12 },
    );
  }, 60_000);

  it('are found behind hundreds of others', async () => {
    const appName = createUniqueName();
    const own = await record(appName, [...Array<string>(12).fill('error'), ...Array<undefined>(650).fill(undefined)]);
    expect(idsOf(await events.listByUser(appName, 'error', 10))).toEqual(own.reverse().slice(0, 10));
  }, 60_000);

  it('are read without others where the name is only theirs', async () => {
    const appName = createUniqueName();
    await record(appName, Array<string>(60).fill('ann'), true);
    const before = table.consumed.read;
    expect(await events.listByUser(appName, 'ann', 10)).toHaveLength(10);
    // Half a unit for each event, and one for the tags.
    expect(table.consumed.read - before).toBeLessThan(7);
  });
});

describe('an answer with rows too large for a function to give', () => {
  const row = (rows: number): EventSearchResult => {
    const event = eventAt(startDate);
    const transactions = Array.from({ length: rows }, (_, index) => ({ transactionId: `${index}`.padStart(400, 'x') }));
    return toSearchResult('app', { ...event, content: { ...event.content, transactions } });
  };

  it('shortens their lists until they fit, and says by how many rows', () => {
    const fitted = fitRowsToResponse(Array.from({ length: 1000 }, () => row(100)));
    expect(fitted).toHaveLength(1000);
    expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThan(5_000_001);
    const [first] = fitted;
    const kept = first?.content.transactions.length ?? 0;
    expect(first?.content.trimmed).toEqual({ transactions: 100 - kept });
    expect(kept).toBeGreaterThan(0);
  });

  it('leaves rows that fit as they are', () => {
    const rows = [row(3), row(100)];
    expect(fitRowsToResponse(rows)).toEqual(rows);
  });
});
