import { beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/api/customers.ts';
import { getEventRaw } from '../../lib/api/events.ts';
import { eventKey } from '../../lib/db/keys.ts';
import type { Table } from '../../lib/db/table.ts';
import { dayMs, minuteMs } from '../../lib/shared/time.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';
import { fetchEventList, givenEvent } from './event-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

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

  it.each([
    ['limit', '0'],
    ['limit', '1001'],
    ['limit', '-5'],
    ['limit', '1e2'],
    ['limit', 'many'],
    ['limit', '2.5'],
    ['skip', '-1'],
    ['skip', '10001'],
    ['offset', 'NaN'],
    ['startdate', 'yesterday'],
    ['startdate', '2026-13-45'],
    ['enddate', '1763700000000'],
  ])('rejects %s=%s', async (name, value) => {
    const { status, body } = await fetchEventList(await givenApp(table), { [name]: value });
    expect([status, body.code]).toEqual([400, 'InvalidPayload']);
  });

  it('treats empty parameters as absent', async () => {
    const query = { limit: '', skip: '', offset: '', startdate: '', enddate: '' };
    expect(await fetchEventList(await givenApp(table), query)).toMatchObject({ status: 200, ids: [] });
  });

  it("does not return another app's event", async () => {
    const [owner, otherApp] = [await givenApp(table), await givenApp(table)];
    const id = await givenEvent(owner);
    expect((await fetchEventList(otherApp)).ids).not.toContain(id);
  });

  it('does not return an event after its retention, even if the table still has it', async () => {
    const keys = await givenApp(table);
    const id = await givenEvent(keys, { date: Date.now() - 2 * dayMs, retentionDays: 1 });
    expect(await table.get(eventKey(keys.appName, id))).toMatchObject({ type: 'receipt.validated' });
    expect((await fetchEventList(keys)).ids).not.toContain(id);
  });
});
