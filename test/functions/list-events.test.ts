import { describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getEventRaw } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { minuteMs } from '../../lib/foundation/time.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';
import { fetchEventList, givenEvent, givenReads } from './event-fixture.ts';

const table = startBeforeAll(createTestTable);

const contentLists = [
  'products',
  'purchases',
  'transactions',
  'claims',
  'notifications',
  'refreshFailures',
  'exchangeRates',
];

describe('GET /v3/events', () => {
  it('returns the events of all shards page by page, newest first', async () => {
    const keys = await givenApp(table);
    const start = Date.now() - minuteMs;
    const ids: string[] = [];
    for (let number = 0; number < 60; number++) ids.unshift(await givenEvent(keys, { date: start + number }));
    // Excludes the events of these requests themselves.
    const range = { enddate: new Date(start + 60).toISOString() };
    expect((await fetchEventList(keys, range)).ids).toEqual(ids);
    expect((await fetchEventList(keys, { ...range, limit: '7' })).ids).toEqual(ids.slice(0, 7));
    expect((await fetchEventList(keys, { ...range, limit: '7', skip: '50' })).ids).toEqual(ids.slice(50, 57));
    expect((await fetchEventList(keys, { ...range, limit: '20', offset: '50' })).ids).toEqual(ids.slice(50));
    const startdate = new Date(start + 55).toISOString();
    expect((await fetchEventList(keys, { ...range, startdate })).ids).toEqual(ids.slice(0, 5));
    expect((await fetchEventList(keys, { startdate: range.enddate, enddate: startdate })).ids).toEqual([]);
  });

  it('returns rows with all lists of their content', async () => {
    const keys = await givenApp(table);
    const eventId = await givenEvent(keys);
    const { body } = await fetchEventList(keys);
    expect(body.ok).toBe(true);
    expect(body.rows).toEqual([
      expect.objectContaining({
        tag: '',
        type: '',
        eventId,
        context: expect.objectContaining({ appName: keys.appName, eventType: 'receipt.validated' }),
      }),
    ]);
    for (const list of contentLists) expect(body.rows[0].content[list]).toEqual([]);
    expect(Date.parse(body.rows[0].context.eventDate)).toBe(body.rows[0].context.eventDateMs);
  });

  it('returns the event of a read request', async () => {
    const keys = await givenApp(table);
    await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'ann' } });
    const { body, ids } = await fetchEventList(keys);
    expect(body.rows[0].context).toMatchObject({ eventType: 'customer.read', applicationUsername: 'ann' });
    const raw = await callWithSecretKey(getEventRaw, keys, { params: { id: ids[0] ?? '' } });
    expect(raw.body).toMatchObject({
      request: { method: 'GET', route: '/v3/customers/:applicationUsername/purchases' },
      response: { status: 200 },
    });
  });

  it('returns a cursor if it has read 1,000 events without finding enough', async () => {
    const keys = await givenApp(table);
    const start = Date.now() - minuteMs;
    const id = await givenEvent(keys, { date: start - 1 });
    await givenReads(keys, { start, count: 1_250 });
    const before = getService().table.consumed.read;
    const first = await fetchEventList(keys, { reads: 'false' });
    // 1,100 small events, and half a unit for each of 24 partitions and six reads.
    expect(getService().table.consumed.read - before).toBeLessThan(200);
    expect(first).toMatchObject({ ids: [], body: { nextCursor: expect.any(String) } });
    const second = await fetchEventList(keys, { reads: 'false', cursor: first.body.nextCursor });
    expect(second.ids).toEqual([id]);
    expect(second.body).not.toHaveProperty('nextCursor');
  });

  it('returns every event of a range once in pages with a cursor, while new events arrive', async () => {
    const keys = await givenApp(table);
    const start = Date.now() - minuteMs;
    const ids: string[] = [];
    for (let number = 0; number < 30; number++) ids.unshift(await givenEvent(keys, { date: start + number }));
    const query = { limit: '7', startdate: new Date(start + 3).toISOString() };
    const first = await fetchEventList(keys, { ...query, enddate: new Date(start + 30).toISOString() });
    const pages = [...first.ids];
    for (let cursor = first.body.nextCursor; cursor !== undefined; ) {
      const page = await fetchEventList(keys, { ...query, skip: '5', cursor });
      pages.push(...page.ids);
      cursor = page.body.nextCursor;
    }
    expect(pages).toEqual(ids.slice(0, 27));
  });

  it('continues after skipped events with the cursor', async () => {
    const keys = await givenApp(table);
    const start = Date.now() - minuteMs;
    const ids: string[] = [];
    for (let number = 0; number < 6; number++) ids.unshift(await givenEvent(keys, { date: start + number }));
    const { body, ids: skipped } = await fetchEventList(keys, { skip: '2', limit: '2' });
    expect(skipped).toEqual(ids.slice(2, 4));
    expect((await fetchEventList(keys, { skip: '2', limit: '5', cursor: body.nextCursor })).ids).toEqual(ids.slice(4));
  });

  it.each([
    ['skip', '10001'],
    ['reads', 'no'],
    ['cursor', 'x'],
  ])('rejects %s=%s', async (name, value) => {
    const { status, body } = await fetchEventList(await givenApp(table), { [name]: value });
    expect([status, body.code]).toEqual([400, 'InvalidPayload']);
  });

  it('treats empty parameters as absent', async () => {
    const query = { limit: '', skip: '', offset: '', startdate: '', enddate: '', reads: '', cursor: '' };
    expect(await fetchEventList(await givenApp(table), query)).toMatchObject({ status: 200, ids: [] });
  });
});
