import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventSearchResult } from '../../../lib/events/contract.ts';
import type { EventRecord } from '../../../lib/events/event.ts';
import { listEvents, listEventsByTags, listEventsOfUser } from '../../../lib/events/event-list-table.ts';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { findEvent, findRawEvent, saveEvent } from '../../../lib/events/event-table.ts';
import { toSearchResult } from '../../../lib/events/to-event-results.ts';
import { createEventId } from '../../../lib/foundation/event-id.ts';
import { eventKey, eventPartitions, rawEventKey, tagKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { fitRowsToResponse } from '../../../lib/http/fit-event-rows.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let service: Service;
beforeAll(async () => {
  service = createService(table);
});

function createEvent(
  date: number,
  eventId: string = createEventId(date),
  options: { user?: string; ok?: boolean } = {},
): EventRecord {
  const recorder = createEventRecorder({ type: 'receipt.validated', date, eventId });
  if (options.user !== undefined) recorder.setUser(options.user);
  const ok = options.ok ?? true;
  return recorder.finish({ request: {}, response: {}, outcome: { status: ok ? 200 : 400, ok } }).event;
}

function createIdInShard(shard: number, date: number): string {
  for (;;) {
    const id = createEventId(date);
    if (eventKey('a', id).pk === `a#E#${shard}`) return id;
  }
}

describe('listEvents', () => {
  it('returns every event on exactly one page, newest first, with any distribution over the shards', async () => {
    const anyShard = fc.integer({ min: 0, max: eventPartitions('a').length - 1 });
    // Most events are in one shard, so the expected share of a shard is too small.
    const skewed = fc.tuple(anyShard, fc.integer({ min: 0, max: 60 }), fc.array(anyShard, { maxLength: 40 }));
    const page = fc.integer({ min: 1, max: 25 });
    await fc.assert(
      fc.asyncProperty(skewed, page, async ([busy, count, others], limit) => {
        const appName = createUniqueName();
        const shards = [...Array<number>(count).fill(busy), ...others];
        const ids = shards.map((shard, index) => createIdInShard(shard, startDate + index));
        await Promise.all(ids.map((id, index) => saveEvent(service, appName, createEvent(startDate + index, id))));
        const pages: string[] = [];
        for (let skip = 0; skip <= ids.length; skip += limit) {
          const batch = await listEvents(service, appName, { limit, skip });
          expect(batch.length).toBe(Math.min(limit, ids.length - skip));
          pages.push(...batch.map(({ eventId }) => eventId));
        }
        expect(pages).toEqual(ids.reverse());
      }),
      sampleRuns({ sample: 3, full: 30 }),
    );
  });

  it('reads few more events than it returns', async () => {
    const appName = createUniqueName();
    const all = Array.from({ length: 320 }, (_, index) => createEvent(startDate + index));
    await Promise.all(all.map((event) => saveEvent(service, appName, event)));
    const before = table.consumed.read;
    expect(await listEvents(service, appName, { limit: 200, skip: 0 })).toHaveLength(200);
    // 200 events of about 200 bytes.
    expect(table.consumed.read - before).toBeLessThan(20);
  });
});

describe('listEventsByTags', () => {
  it('ignores events that had the tag before they were rewritten', async () => {
    const appName = createUniqueName();
    for (let index = 0; index < 250; index++) {
      await saveEvent(service, appName, createEvent(startDate + index, `retried-${index}`, { ok: false }));
      if (index >= 20) await saveEvent(service, appName, createEvent(startDate + index, `retried-${index}`));
    }
    const failed = await listEventsByTags(service, appName, ['error'], 10);
    expect(failed.map(({ eventId }) => eventId)).toEqual(Array.from({ length: 10 }, (_, ago) => `retried-${19 - ago}`));
    expect(failed.map(({ outcome }) => outcome.ok)).not.toContain(true);
  });

  it('returns the newest events first, each once, with any of the tags', async () => {
    const appName = createUniqueName();
    const anyTags = fc.array(fc.subarray([0, 1], { minLength: 1 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(anyTags, fc.integer({ min: 1, max: 8 }), async (tagsByEvent, limit) => {
        const tagValues = [createUniqueName(), createUniqueName()];
        const ids = tagsByEvent.map((_tags, index) => createEventId(startDate + index));
        for (const [index, tags] of tagsByEvent.entries()) {
          const recorder = createEventRecorder({
            type: 'receipt.validated',
            date: startDate + index,
            eventId: ids[index] ?? '',
          });
          for (const tag of tags) recorder.addTag(tagValues[tag] ?? '', '_P');
          const { event } = recorder.finish({ request: {}, response: {}, outcome: { status: 200, ok: true } });
          await saveEvent(service, appName, event);
        }
        const tagged = await listEventsByTags(service, appName, tagValues, limit);
        expect(tagged.map(({ eventId }) => eventId)).toEqual(ids.reverse().slice(0, limit));
      }),
      sampleRuns({ sample: 3, full: 30 }),
    );
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', '長'.repeat(300), 'x'.repeat(1_001)])(
    'finds an event by the tag %s',
    async (user) => {
      const appName = createUniqueName();
      await saveEvent(service, appName, createEvent(startDate, 'of-user', { user }));
      expect(await listEventsByTags(service, appName, [user], 10)).toMatchObject([{ eventId: 'of-user' }]);
    },
  );
});

describe('listEventsOfUser', () => {
  const saveEvents = async (appName: string, users: readonly (string | undefined)[], ok = false) => {
    const all = users.map((user, index) => createEvent(startDate + index, undefined, { ...(user && { user }), ok }));
    await Promise.all(all.map((event) => saveEvent(service, appName, event)));
    return all.filter(({ applicationUsername }) => applicationUsername === 'error').map(({ eventId }) => eventId);
  };
  const getIds = (list: readonly Pick<EventRecord, 'eventId'>[]) => list.map(({ eventId }) => eventId);

  it('returns the events of the customer only, even if failed events have a tag equal to the username', async () => {
    const anyUsers = fc.array(fc.constantFrom('error', 'ann', undefined), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(anyUsers, fc.integer({ min: 1, max: 12 }), async (users, limit) => {
        const appName = createUniqueName();
        const own = await saveEvents(appName, users);
        expect(getIds(await listEventsOfUser(service, appName, 'error', limit))).toEqual(own.reverse().slice(0, limit));
      }),
      sampleRuns({ sample: 3, full: 30 }),
    );
  });

  it('returns the events of the customer behind hundreds of other events', async () => {
    const appName = createUniqueName();
    const own = await saveEvents(appName, [
      ...Array<string>(12).fill('error'),
      ...Array<undefined>(650).fill(undefined),
    ]);
    expect(getIds(await listEventsOfUser(service, appName, 'error', 10))).toEqual(own.reverse().slice(0, 10));
  });

  it('reads only the tags of the customer if no other event has the tag', async () => {
    const appName = createUniqueName();
    await saveEvents(appName, Array<string>(60).fill('ann'), true);
    const before = table.consumed.read;
    expect(await listEventsOfUser(service, appName, 'ann', 10)).toHaveLength(10);
    expect(table.consumed.read - before).toBeLessThan(2);
  });

  /** An event of the user about purchases, which can name another user. */
  const createPurchaseEvent = (user: string, { ids = ['store_a:1'], other, ok = true }: PurchaseEvent = {}) => {
    const recorder = createEventRecorder({ type: 'receipt.validated', date: startDate });
    recorder.setUser(user);
    recorder.addContent({ purchases: ids.map((purchaseId) => ({ purchaseId, productId: 'store_a:gems' })) });
    if (other !== undefined) recorder.addContent({ claims: [{ applicationUsername: other }] });
    const outcome = { status: ok ? 200 : 400, ok };
    const error = { code: 'InvalidPayload', status: 400, message: 'The receipt is invalid.' } as const;
    return recorder.finish({ request: {}, response: {}, outcome, ...(!ok && { error }) }).event;
  };

  interface PurchaseEvent {
    readonly ids?: readonly string[];
    readonly other?: string;
    readonly ok?: boolean;
  }

  const readTag = async (appName: string, tag: string, { date, eventId }: EventRecord) =>
    await table.get(tagKey(appName, tag, date, eventId));

  it('returns the same of an event whose tag an earlier release has written', async () => {
    const appName = createUniqueName();
    const all = [createPurchaseEvent('ann'), createPurchaseEvent('ann', { ok: false })];
    for (const event of all) await saveEvent(service, appName, event);
    const listed = await listEventsOfUser(service, appName, 'ann', 10);
    expect(listed).toHaveLength(2);
    expect(listed).toContainEqual({
      eventId: all[1]?.eventId,
      date: startDate,
      type: 'receipt.validated',
      outcome: { status: 400, ok: false, message: 'The receipt is invalid.' },
      productIds: ['store_a:gems'],
      purchaseIds: ['store_a:1'],
    });
    for (const event of all.slice(0, 1)) {
      const { excerpt, ...tag } = (await readTag(appName, 'ann', event)) ?? {};
      expect(excerpt).toBeDefined();
      await table.batchPut([tag]);
    }
    expect(await listEventsOfUser(service, appName, 'ann', 10)).toEqual(listed);
  });

  it('keeps the excerpt of an event out of the tag if it names another customer, who can be erased', async () => {
    const appName = createUniqueName();
    const event = createPurchaseEvent('ann', { other: 'bob' });
    await saveEvent(service, appName, event);
    for (const user of ['ann', 'bob']) expect(await readTag(appName, user, event)).not.toHaveProperty('excerpt');
    expect(await listEventsOfUser(service, appName, 'ann', 10)).toMatchObject([{ purchaseIds: ['store_a:1'] }]);
    expect(await listEventsOfUser(service, appName, 'bob', 10)).toEqual([]);
  });

  it('writes each tag in one write unit, with many purchases, too', async () => {
    const appName = createUniqueName();
    for (const count of [1, 20, 100]) {
      const event = createPurchaseEvent('ann', { ids: Array.from({ length: count }, (_, id) => `store_a:${id}`) });
      await saveEvent(service, appName, event);
      const item = await readTag(appName, 'ann', event);
      // Longer than the item, which has 1,024 bytes in a write unit.
      expect(Buffer.byteLength(JSON.stringify(item))).toBeLessThanOrEqual(1_024);
      const [listed] = (await listEventsOfUser(service, appName, 'ann', 10)).filter(
        ({ eventId }) => eventId === event.eventId,
      );
      expect(listed?.purchaseIds).toHaveLength(count);
    }
  });
});

describe('event after its retention', () => {
  it.each<[string, (at: Service, appName: string, eventId: string) => Promise<unknown>]>([
    ['findEvent', findEvent],
    ['findRawEvent', findRawEvent],
    ['listEvents', async (at, appName) => (await listEvents(at, appName, { limit: 10, skip: 0 }))[0]],
    ['listEventsByTags', async (at, appName) => (await listEventsByTags(at, appName, ['ann'], 10))[0]],
    ['listEventsOfUser', async (at, appName) => (await listEventsOfUser(at, appName, 'ann', 10))[0]],
  ])('disappears from %s, even if the table still has it', async (_name, read) => {
    const appName = createUniqueName();
    const { event, raw } = createValidationEvent('ann');
    await saveEvent(service, appName, event, raw);
    expect(await read(service, appName, event.eventId)).toBeDefined();
    const later = createService(table, { now: () => startDate + 91 * dayMs });
    expect(await read(later, appName, event.eventId)).toBeUndefined();
  });
});

describe('items of an event', () => {
  it('fit the event of a validation and its raw view into one write unit', async () => {
    const appName = createUniqueName();
    const { event, raw } = createValidationEvent();
    await saveEvent(service, appName, event, raw);
    const { packed } = (await table.get(eventKey(appName, event.eventId))) ?? {};
    expect(packed instanceof Uint8Array && packed.length).toBeLessThan(700);
    expect(await findEvent(service, appName, event.eventId)).toEqual(event);
    expect(await findRawEvent(service, appName, event.eventId)).toEqual(raw);
  });

  it('contain a large raw view separately', async () => {
    const appName = createUniqueName();
    const { event } = createValidationEvent();
    const body = { text: randomBytes(4_000).toString('base64') };
    const raw = { request: { body }, response: {}, externalRequests: [] };
    await saveEvent(service, appName, event, raw);
    expect((await table.get(rawEventKey(appName, event.eventId)))?.raw).toBeDefined();
    expect(await findEvent(service, appName, event.eventId)).toEqual(event);
    expect(await findRawEvent(service, appName, event.eventId)).toEqual(raw);
  });
});

/** Creates the event of a validation by the App Store, with random ids. */
function createValidationEvent(user: string = randomUUID()) {
  const id = String(randomInt(2 ** 47));
  const recorder = createEventRecorder({ type: 'receipt.validated', date: startDate });
  recorder.setUser(user);
  recorder.setKey({ id: randomBytes(6).toString('hex'), name: 'main', level: 'public' });
  recorder.addTag(`store_a:${id}`, '_T');
  const purchase = {
    purchaseId: `store_a:${id}`,
    productId: 'store_a:com.example.premium.monthly',
    platform: 'store_a',
  };
  recorder.addContent({
    products: [{ type: 'application', id: 'com.example.app' }],
    purchases: [purchase],
    transactions: [{ ...purchase, transactionId: `store_a:${id}`, amountMicros: 4_990_000, currency: 'EUR' }],
    notifications: [{ reason: 'PURCHASED', purchaseId: `store_a:${id}` }],
  });
  for (const path of ['v1/subscriptions', 'v2/history', 'v1/transactions/appTransactions']) {
    const url = `https://api.storekit.apple.com/inApps/${path}/…`;
    const timing = { startedAt: startDate + randomInt(100), endedAt: startDate + 100 + randomInt(400) };
    const response = { status: 200, size: randomInt(9_000) };
    recorder.addExternalCall({
      type: 'api.storekit.apple.com',
      platform: 'store_a',
      url,
      method: 'GET',
      response,
      timing,
    });
  }
  return recorder.finish({
    request: { method: 'POST', route: '/v1/validate', body: { id: 'com.example.app', type: 'application' } },
    response: {
      ok: true,
      data: { id: 'com.example.app', collection: [{ id: purchase.productId, transactionId: id }] },
    },
    outcome: { status: 200, ok: true },
  });
}

describe('fitRowsToResponse', () => {
  const createRow = (transactionCount: number): EventSearchResult => {
    const event = createEvent(startDate);
    const transactions = Array.from({ length: transactionCount }, (_, index) => ({
      transactionId: `${index}`.padStart(400, 'x'),
    }));
    return toSearchResult('app', { ...event, content: { ...event.content, transactions } });
  };

  it('shortens the lists of rows that are too large, and returns the number of omitted entries', () => {
    const fitted = fitRowsToResponse(Array.from({ length: 1000 }, () => createRow(100)));
    expect(fitted).toHaveLength(1000);
    expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThan(5_000_001);
    const [first] = fitted;
    const remaining = first?.content.transactions.length ?? 0;
    expect(first?.content.trimmed).toEqual({ transactions: 100 - remaining });
    expect(remaining).toBeGreaterThan(0);
  });

  it('returns rows that fit unchanged', () => {
    const rows = [createRow(3), createRow(100)];
    expect(fitRowsToResponse(rows)).toEqual(rows);
  });
});
