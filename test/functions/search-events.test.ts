import { describe, expect, it } from '@jest/globals';
import { changeSettings, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { minuteMs, secondMs } from '../../lib/foundation/time.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { fetchEventList, findEvents, givenEvent, givenReads, searchByTag, searchPages } from './event-fixture.ts';

const service = startBeforeAll(startTestService);

const createKeys = async () => await givenApp(getService().table);

/** Buys and validates a subscription of Google Play. */
async function validatePurchase(keys: IssuedApiKeys, applicationUsername: string) {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  return { id: id as string, productId: validate.id as string };
}

describe('GET /v3/search/:tag', () => {
  it.each(['a/b', 'what?#', '100%', '%2F', 'Zoë 日本 😀', 'a+b c', '__proto__', 'constructor', 'x'.repeat(900)])(
    'finds events by the tag %s',
    async (tag) => {
      const keys = await createKeys();
      const eventId = await givenEvent(keys, { tags: { [tag]: '_P' } });
      await givenEvent(keys, { tags: { other: '_P' } });
      expect(await findEvents(keys, tag)).toMatchObject([{ tag, eventId }]);
    },
  );

  it('finds a purchase by its brand id, and a customer with that id as username', async () => {
    const keys = await createKeys();
    const purchaseEvent = await givenEvent(keys, { tags: { 'store_a:7': '_P' }, date: Date.now() - 10 });
    const userEvent = await givenEvent(keys, { tags: { 'apple:7': '_A' } });
    expect(await findEvents(keys, 'apple:7')).toMatchObject([
      { tag: 'apple:7', type: '_A', eventId: userEvent },
      { tag: 'apple:7', type: '_P', eventId: purchaseEvent },
    ]);
  });

  it('leaves out failed reads with the other reads', async () => {
    const keys = await createKeys();
    await givenReads(keys, { start: Date.now() - secondMs, count: 1, tags: { error: '_X' } });
    const id = await givenEvent(keys, { tags: { error: '_X' } });
    expect((await searchByTag(keys, 'error')).ids).toHaveLength(2);
    expect((await searchByTag(keys, 'error', { reads: 'false' })).ids).toEqual([id]);
  });

  it('returns a cursor if it has read 1,000 events without finding enough', async () => {
    const keys = await createKeys();
    const start = Date.now() - minuteMs;
    const tags = { reader: '_A' } as const;
    const id = await givenEvent(keys, { date: start - 1, tags });
    await givenReads(keys, { start, count: 1_250, tags });
    const before = getService().table.consumed.read;
    const first = await searchByTag(keys, 'reader', { reads: 'false' });
    // Half a read unit for each of 1,100 events, and the tags.
    expect(getService().table.consumed.read - before).toBeLessThan(700);
    expect(first).toMatchObject({ ids: [], body: { nextCursor: expect.any(String) } });
    const second = await searchByTag(keys, 'reader', { reads: 'false', cursor: first.body.nextCursor });
    expect(second.ids).toEqual([id]);
    expect(second.body).not.toHaveProperty('nextCursor');
  });

  it('returns every event with the tag once in pages', async () => {
    const keys = await createKeys();
    const start = Date.now() - secondMs;
    const ids: string[] = [];
    for (let number = 0; number < 230; number++)
      ids.unshift(await givenEvent(keys, { date: start + number, tags: { often: '_A' } }));
    const pages = await searchPages(keys, 'often');
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual(ids);
  });

  it('returns the events with the tag from startdate until before enddate', async () => {
    const keys = await createKeys();
    const start = Date.now() - minuteMs;
    const ids: string[] = [];
    for (let number = 0; number < 4; number++)
      ids.push(await givenEvent(keys, { date: start + number, tags: { dated: '_A' } }));
    const [startdate, enddate] = [new Date(start + 1).toISOString(), new Date(start + 3).toISOString()];
    expect((await searchByTag(keys, 'dated', { startdate, enddate })).ids).toEqual([ids[2], ids[1]]);
    expect((await searchByTag(keys, 'dated', { startdate: enddate, enddate: startdate })).ids).toEqual([]);
  });

  it.each([{ reads: 'no' }, { cursor: 'x' }, { startdate: 'yesterday' }])('rejects %j', async (query) => {
    expect(await searchByTag(await createKeys(), 'any', query)).toMatchObject({
      status: 400,
      body: { code: 'InvalidPayload' },
    });
  });

  it('finds a request by the request id of its row, even if the client sent no request id', async () => {
    const keys = await createKeys();
    const readPurchases = async (headers: Record<string, string>) =>
      await callWithSecretKey(getCustomerPurchases, keys, { headers, params: { applicationUsername: 'ann' } });
    await readPurchases({});
    const { ids, body } = await fetchEventList(keys);
    const { req_id: reqId } = body.rows[0].context;
    expect(await findEvents(keys, reqId)).toMatchObject([{ tag: reqId, type: '_R', eventId: ids[0] }]);
    // A client can send that id with a later request.
    await readPurchases({ 'x-request-id': reqId });
    expect(await findEvents(keys, reqId)).toMatchObject([
      { tag: reqId, type: '_R', eventId: expect.not.stringContaining(ids[0] ?? '') },
      { tag: reqId, type: '_R', eventId: ids[0] },
    ]);
    expect(await findEvents(await createKeys(), reqId)).toEqual([]);
  });

  it('returns a request that is found by its event id once, in the order of the dates', async () => {
    const keys = await createKeys();
    const start = Date.now() - minuteMs;
    const positions = [0, 1, 99, 100, 101, 199, 200, 201];
    const requests = await Promise.all(
      positions.map(async (position) => await givenEvent(keys, { date: start - 2 * position + 1, reqId: '' })),
    );
    // Clients have sent each of these ids with 200 later or earlier requests.
    const tags = Object.fromEntries(requests.map((id) => [id, '_R' as const]));
    const ids: string[] = [];
    for (let number = 0; number < 200; number++) ids.push(await givenEvent(keys, { date: start - 2 * number, tags }));
    for (const [index, request] of requests.entries()) {
      const pages = await searchPages(keys, request);
      expect(pages.map(({ length }) => length)).toEqual([100, 100, 1]);
      expect(pages.flat()).toEqual(ids.toSpliced(positions[index] ?? 0, 0, request));
    }
  });

  it('does not find a request by its event id if the client sent another request id', async () => {
    const keys = await createKeys();
    expect(await findEvents(keys, await givenEvent(keys))).toEqual([]);
  });

  it('finds a validation by its customer, its purchase in both vocabularies and its transaction', async () => {
    const keys = await service.createApp(['store_b']);
    const { id, productId } = await validatePurchase(keys, 'ann');
    const purchaseId = `store_b:${id}`;
    const [row] = await findEvents(keys, 'ann');
    expect(row.context).toMatchObject({
      eventType: 'receipt.validated',
      applicationUsername: 'ann',
      appName: keys.appName,
    });
    expect(row.content).toMatchObject({
      products: [{ id: productId, type: 'paid subscription' }],
      purchases: [{ purchaseId, productId: 'store_b:premium', platform: 'store_b' }],
      transactions: [{ purchaseId, platform: 'store_b', currency: 'USD' }],
      claims: [{ applicationUsername: 'ann', purchaseId }],
    });
    const [transaction] = row.content.transactions;
    expect(transaction.purchaseDate).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+\.000Z$/);
    for (const tag of [purchaseId, `google:${id}`, transaction.transactionId])
      expect(await findEvents(keys, tag)).toMatchObject([{ tag, eventId: row.eventId }]);
  });

  it('returns brand ids to an app with the brand vocabulary', async () => {
    const keys = await service.createApp(['store_b']);
    await changeSettings(getService(), keys.appName, { vocabulary: 'brand' });
    const { id } = await validatePurchase(keys, 'store_b:cher');
    const tag = `google:${id}`;
    const rows = await findEvents(keys, tag);
    expect(rows).toMatchObject([
      { tag, type: '_P', content: { purchases: [{ purchaseId: tag, platform: 'google' }] } },
    ]);
    expect(rows[0].content.tags).toMatchObject({ [tag]: '_P', 'store_b:cher': '_A' });
  });

  it('does not contain an API key that was sent as request id', async () => {
    const keys = await createKeys();
    const user = createUniqueName('user');
    const headers = { 'x-request-id': keys.secretKey };
    await callWithSecretKey(getCustomerPurchases, keys, { headers, params: { applicationUsername: user } });
    const rows = await findEvents(keys, user);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(keys.secretKey);
  });
});
