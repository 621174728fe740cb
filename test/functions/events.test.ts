import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/api/customers.ts';
import type { TagType } from '../../lib/api/enumerations.ts';
import { getEvent, getEventAnalysis, getEventRaw, listEvents, searchEvents } from '../../lib/api/events.ts';
import { validateReceipt } from '../../lib/api/validation.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { createEventRepository } from '../../lib/db/event-repository.ts';
import type { Table } from '../../lib/db/table.ts';
import { createEventRecorder } from '../../lib/events/event-recorder.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { dayMs, givenApp } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const secret = ({ appName, secretKey }: IssuedApiKeys) => buildBasicAuth(appName, secretKey);
const lists = ['products', 'purchases', 'transactions', 'claims', 'notifications', 'refreshFailures', 'exchangeRates'];

interface Given {
  readonly date?: number;
  readonly tags?: Readonly<Record<string, TagType>>;
  readonly body?: object;
  readonly calls?: number;
  readonly retentionDays?: number;
}

/** Records a validation as `endpoint` does, and answers its id. */
async function givenEvent(
  { appName }: IssuedApiKeys,
  { date = Date.now(), tags = {}, body = {}, calls = 0, retentionDays = 90 }: Given = {},
): Promise<string> {
  const recorder = createEventRecorder({ type: 'receipt.validated', date, reqId: `req-${randomUUID()}` });
  for (const [tag, type] of Object.entries(tags)) recorder.addTag(tag, type);
  for (let number = 0; number < calls; number++) {
    const timing = { startedAt: date + number, endedAt: date + number + 1 };
    recorder.addExternalCall({ type: 'store', url: `https://store.example/${randomUUID()}`, method: 'GET', timing });
  }
  const { event, raw } = recorder.finish({
    request: { method: 'POST', route: '/v1/validate', body },
    outcome: { status: 200, ok: true },
    response: { ok: true, data: { transaction: { type: 'ios-store', transactionId: '1' } } },
  });
  await createEventRepository(table, retentionDays, Date.now).save(appName, event, raw);
  return event.eventId;
}

const listed = async (keys: IssuedApiKeys, query: Record<string, string> = {}) => {
  const { status, body } = await callEndpoint(listEvents, { headers: secret(keys), query });
  return { status, body, ids: (body.rows ?? []).map(({ eventId }: { eventId: string }) => eventId) };
};

const searched = async (keys: IssuedApiKeys, tag: string) =>
  (await callEndpoint(searchEvents, { headers: secret(keys), params: { tag } })).body.rows;

describe('the list of events', () => {
  it('goes through all shards, newest first, page by page', async () => {
    const keys = await givenApp(table);
    const start = Date.now() - 1000 * 60;
    const ids: string[] = [];
    for (let number = 0; number < 60; number++) ids.unshift(await givenEvent(keys, { date: start + number }));
    // Later pages are preceded by the events of the earlier lists.
    const until = { enddate: new Date(start + 60).toISOString() };
    expect((await listed(keys, until)).ids).toEqual(ids);
    expect((await listed(keys, { ...until, limit: '7' })).ids).toEqual(ids.slice(0, 7));
    expect((await listed(keys, { ...until, limit: '7', skip: '50' })).ids).toEqual(ids.slice(50, 57));
    expect((await listed(keys, { ...until, limit: '20', offset: '50' })).ids).toEqual(ids.slice(50));
    const startdate = new Date(start + 55).toISOString();
    expect((await listed(keys, { ...until, startdate })).ids).toEqual(ids.slice(0, 5));
    expect((await listed(keys, { startdate: until.enddate, enddate: startdate })).ids).toEqual([]);
  });

  it('has complete rows', async () => {
    const keys = await givenApp(table);
    const eventId = await givenEvent(keys);
    const { body } = await listed(keys);
    expect(body.ok).toBe(true);
    expect(body.rows).toEqual([
      expect.objectContaining({
        tag: '',
        type: '',
        eventId,
        context: expect.objectContaining({ appName: keys.appName, eventType: 'receipt.validated' }),
      }),
    ]);
    for (const list of lists) expect(body.rows[0].content[list]).toEqual([]);
    expect(Date.parse(body.rows[0].context.eventDate)).toBe(body.rows[0].context.eventDateMs);
  });

  it('shows a read with what it read', async () => {
    const keys = await givenApp(table);
    await callEndpoint(getCustomerPurchases, { headers: secret(keys), params: { applicationUsername: 'ann' } });
    const { body, ids } = await listed(keys);
    expect(body.rows[0].context).toMatchObject({ eventType: 'customer.read', applicationUsername: 'ann' });
    const raw = await callEndpoint(getEventRaw, { headers: secret(keys), params: { id: ids[0] } });
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
  ])('refuses %s=%s', async (name, value) => {
    const { status, body } = await listed(await givenApp(table), { [name]: value });
    expect([status, body.code]).toEqual([400, 'InvalidPayload']);
  });

  it('takes parameters that are sent empty as not sent', async () => {
    const empty = { limit: '', skip: '', offset: '', startdate: '', enddate: '' };
    expect(await listed(await givenApp(table), empty)).toMatchObject({ status: 200, ids: [] });
  });
});

describe('a search by tag', () => {
  it.each(['a/b', 'what?#', '100%', '%2F', 'Zoë 日本 😀', 'a+b c', '__proto__', 'constructor', 'x'.repeat(900)])(
    'finds %s',
    async (tag) => {
      const keys = await givenApp(table);
      const eventId = await givenEvent(keys, { tags: { [tag]: '_P' } });
      await givenEvent(keys, { tags: { other: '_P' } });
      expect(await searched(keys, tag)).toMatchObject([{ tag, eventId }]);
    },
  );

  it('says the type of the tag', async () => {
    const keys = await givenApp(table);
    await givenEvent(keys, { tags: { 'store_a:1': '_P' } });
    expect(await searched(keys, 'store_a:1')).toMatchObject([{ tag: 'store_a:1', type: '_P' }]);
  });

  it('finds an id by its brand word, and a user who is called so', async () => {
    const keys = await givenApp(table);
    const purchase = await givenEvent(keys, { tags: { 'store_a:7': '_P' }, date: Date.now() - 10 });
    const user = await givenEvent(keys, { tags: { 'apple:7': '_A' } });
    const rows = await searched(keys, 'apple:7');
    expect(rows).toMatchObject([
      { tag: 'apple:7', type: '_A', eventId: user },
      { tag: 'apple:7', type: '_P', eventId: purchase },
    ]);
  });

  it('shows the latest 100', async () => {
    const keys = await givenApp(table);
    const start = Date.now() - 1000;
    const ids: string[] = [];
    for (let number = 0; number < 104; number++)
      ids.unshift(await givenEvent(keys, { date: start + number, tags: { often: '_A' } }));
    const rows: { eventId: string }[] = await searched(keys, 'often');
    expect(rows.map(({ eventId }) => eventId)).toEqual(ids.slice(0, 100));
  });

  it('finds the request that a row shows the id of, also where the caller gave none', async () => {
    const keys = await givenApp(table);
    const headers = secret(keys);
    const read = async (given: object) =>
      await callEndpoint(getCustomerPurchases, {
        headers: { ...headers, ...given },
        params: { applicationUsername: 'ann' },
      });
    await read({});
    const { ids, body } = await listed(keys);
    const { req_id: reqId } = body.rows[0].context;
    expect(await searched(keys, reqId)).toMatchObject([{ tag: reqId, type: '_R', eventId: ids[0] }]);
    // A later request may be sent with that id.
    await read({ 'x-request-id': reqId });
    expect(await searched(keys, reqId)).toMatchObject([
      { tag: reqId, type: '_R', eventId: expect.not.stringContaining(ids[0]) },
      { tag: reqId, type: '_R', eventId: ids[0] },
    ]);
    expect(await searched(await givenApp(table), reqId)).toEqual([]);
  });

  it('finds no request by the id of its event where the caller gave another', async () => {
    const keys = await givenApp(table);
    expect(await searched(keys, await givenEvent(keys))).toEqual([]);
  });

  it('finds nothing for a tag that nobody has', async () => {
    expect(await searched(await givenApp(table), 'nobody')).toEqual([]);
  });
});

describe('an event', () => {
  const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store', id: '1' } };

  it('shows the details of its receipt only when they are asked for', async () => {
    const keys = await givenApp(table);
    const params = { id: await givenEvent(keys, { body, calls: 1 }) };
    const ask = async (contract: typeof getEvent | typeof getEventAnalysis, query: Record<string, string>) => {
      const response = await callEndpoint(contract, { headers: secret(keys), params, query });
      return response.body.analysis ?? response.body;
    };
    const details = [{ ...body, status: 200, storeCalls: [{ method: 'GET' }] }];
    for (const plain of [
      await ask(getEvent, {}),
      await ask(getEvent, { receipts: '1' }),
      await ask(getEventAnalysis, { receipts: '' }),
    ]) {
      expect(plain.context.includeHeavyData).toBe(false);
      expect(plain.content).not.toHaveProperty('receipts');
    }
    for (const detailed of [
      await ask(getEvent, { receipts: 'true' }),
      await ask(getEventAnalysis, { receipts: '1' }),
    ]) {
      expect(detailed.context.includeHeavyData).toBe(true);
      expect(detailed.content).toMatchObject({ receipts: details });
    }
  });

  it.each([getEvent, getEventAnalysis, getEventRaw])(
    'that does not exist is ResourceNotFound ($id)',
    async (contract) => {
      const keys = await givenApp(table);
      const response = await callEndpoint(contract, { headers: secret(keys), params: { id: randomUUID() } });
      expect(response).toMatchObject({ status: 404, body: { code: 'ResourceNotFound' } });
    },
  );

  it('of one application is not there for another', async () => {
    const [owner, other] = [await givenApp(table), await givenApp(table)];
    const id = await givenEvent(owner, { tags: { shared: '_A' } });
    for (const contract of [getEvent, getEventAnalysis, getEventRaw])
      expect((await callEndpoint(contract, { headers: secret(other), params: { id } })).status).toBe(404);
    expect(await searched(other, 'shared')).toEqual([]);
    expect((await listed(other)).ids).not.toContain(id);
    const reaching = `x#E#${id}`;
    expect((await callEndpoint(getEventRaw, { headers: secret(other), params: { id: reaching } })).status).toBe(404);
  });

  it('is not shown after its retention, though it is still in the table', async () => {
    const keys = await givenApp(table);
    const date = Date.now() - 2 * dayMs;
    const id = await givenEvent(keys, { date, retentionDays: 1, tags: { old: '_A' } });
    expect(await table.get({ pk: `${keys.appName}#E#${id}`, sk: 'E' })).toMatchObject({ eventId: id });
    expect((await listed(keys)).ids).not.toContain(id);
    expect(await searched(keys, 'old')).toEqual([]);
    for (const contract of [getEvent, getEventAnalysis, getEventRaw])
      expect((await callEndpoint(contract, { headers: secret(keys), params: { id } })).status).toBe(404);
  });
});

describe('a large event', () => {
  it('of a 2 MB body that no compression makes small is stored, trimmed with a mark', async () => {
    const keys = await givenApp(table);
    const noise = () => ({ id: Array.from({ length: 7 }, () => randomUUID()).join(' ') });
    const lots = (depth: number): object =>
      depth === 0 ? noise() : { offers: Array.from({ length: 19 }, () => lots(depth - 1)) };
    const body = { products: lots(3) };
    expect(JSON.stringify(body).length).toBeGreaterThan(1_700_000);
    const id = await givenEvent(keys, { body });
    const { body: raw } = await callEndpoint(getEventRaw, { headers: secret(keys), params: { id } });
    expect(raw.request).toMatchObject({ route: '/v1/validate', body: '[trimmed]' });
    expect(raw.response.body.data.transaction).toEqual({ type: 'ios-store', transactionId: '1' });
  });

  it('of a validation with 2 MB of secrets is stored, trimmed with a mark', async () => {
    const keys = await givenApp(table);
    const products = Array.from({ length: 20_000 }, (_, number) => ({
      id: `p${number}`,
      receipt: `${randomUUID()}${randomUUID()}`,
    }));
    const body = { id: 'p1', type: 'consumable', transaction: { type: 'android-store' }, products };
    await callEndpoint(validateReceipt, { headers: secret(keys), body });
    const [id] = (await listed(keys)).ids;
    const { body: raw } = await callEndpoint(getEventRaw, { headers: secret(keys), params: { id } });
    expect(raw.request.body.products).toEqual([
      ...products.slice(0, 20).map((product) => ({ id: product.id, receipt: '[removed]' })),
      '[trimmed] 19980 more',
    ]);
  });

  it('of 500 calls to stores shows the first ones and how many there were', async () => {
    const keys = await givenApp(table);
    const id = await givenEvent(keys, { calls: 500 });
    const { body: raw } = await callEndpoint(getEventRaw, { headers: secret(keys), params: { id } });
    expect(raw.externalRequests).toHaveLength(51);
    expect(raw.externalRequests[50].type).toBe('[trimmed] 450 more calls');
  });
});
