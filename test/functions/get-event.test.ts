import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getPrices } from '../../lib/checkout/contract.ts';
import { getEvent, getEventAnalysis, getEventRaw } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { repeatWebhook } from '../../lib/webhooks/contract.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { fetchEventList, findEvents, givenEvent } from './event-fixture.ts';

const service = startBeforeAll(startTestService);

describe('GET /v3/events/:id', () => {
  it('returns the analysis and the raw event', async () => {
    const keys = await givenApp(getService().table);
    const id = await givenEvent(keys, { tags: { ann: '_A' } });
    const { status, body } = await callWithSecretKey(getEvent, keys, { params: { id } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      analysis: { eventId: id, context: { eventType: 'receipt.validated' }, content: { tags: { ann: '_A' } } },
      raw: { eventId: id, type: 'receipt.validated', request: { route: '/v1/validate' } },
    });
  });

  it('contains the purchase token as purchase id only', async () => {
    const keys = await service.createApp(['store_b']);
    const { id: purchaseToken, validate } = await service.callControl('/purchases', {
      platform: 'store_b',
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername: 'bob',
    });
    expect((await service.validate(keys, validate)).body.ok).toBe(true);
    expect(validate.transaction.purchaseToken).toBe(purchaseToken);
    const [{ eventId: id }] = await findEvents(keys, 'bob');
    const { body } = await callWithSecretKey(getEvent, keys, { params: { id }, query: { receipts: 'true' } });
    const text = JSON.stringify(body);
    const purchaseId = `store_b:${purchaseToken}`;
    expect(text).toContain(purchaseId);
    const textWithoutPurchaseIds = text
      .replaceAll(`"${purchaseId}"`, '')
      .replaceAll(`"purchaseId":"${purchaseToken}"`, '');
    expect(textWithoutPurchaseIds).not.toContain(purchaseToken);
    const { receipt, signature } = validate.transaction;
    for (const secret of [receipt, signature])
      if (secret) expect(text).not.toContain(JSON.stringify(secret).slice(1, 40));
    expect(body.raw.externalRequests[0]).toMatchObject({
      type: expect.stringContaining('google'),
      response: { status: 200 },
    });
  });
});

describe('GET /v3/events/:id/raw', () => {
  it('returns the request, the response and the calls to stores', async () => {
    const keys = await givenApp(getService().table);
    const id = await givenEvent(keys, { body: { id: 'premium' }, storeCalls: 2 });
    const { status, body } = await callWithSecretKey(getEventRaw, keys, { params: { id } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      eventId: id,
      type: 'receipt.validated',
      request: { method: 'POST', route: '/v1/validate', body: { id: 'premium' } },
      response: { status: 200, body: { ok: true } },
      externalRequests: [{ method: 'GET' }, { method: 'GET' }],
    });
  });

  it.each(['', 'null', '3', 'false', '[{}]', '{'])('omits a request body that is not an object: %p', async (body) => {
    const keys = await givenApp(getService().table);
    expect((await callWithSecretKey(repeatWebhook, keys, { body })).status).toBe(400);
    const [{ eventId }] = (await fetchEventList(keys)).body.rows;
    const raw = await fetchRaw(keys, eventId);
    expect(raw).toMatchObject({ type: 'webhook.repeated', error: { status: 400 } });
    expect(raw.request).not.toHaveProperty('body');
  });

  it('omits the request body of a GET request', async () => {
    const keys = await service.createApp(['processor_a']);
    await callWithPublicKey(getPrices, keys);
    const [{ eventId }] = (await fetchEventList(keys)).body.rows;
    const raw = await fetchRaw(keys, eventId);
    expect(raw.request).toEqual({ method: 'GET', route: '/v3/processor_a/prices', query: {}, params: {} });
  });

  it('does not accept a table key as event id', async () => {
    const [owner, otherApp] = [await givenApp(getService().table), await givenApp(getService().table)];
    const id = await givenEvent(owner);
    const response = await callWithSecretKey(getEventRaw, otherApp, { params: { id: `x#E#${id}` } });
    expect(response.status).toBe(404);
  });
});

describe('GET /v3/events/:id/analysis', () => {
  it('returns the context and the content of the event', async () => {
    const keys = await givenApp(getService().table);
    const id = await givenEvent(keys, { tags: { ann: '_A' } });
    const { status, body } = await callWithSecretKey(getEventAnalysis, keys, { params: { id } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      eventId: id,
      context: { appName: keys.appName, eventType: 'receipt.validated', includeHeavyData: false },
      content: { tags: { ann: '_A' } },
    });
  });
});

describe('receipts in the query of an event', () => {
  it.each([
    ['GET /v3/events/:id', getEvent, [undefined, '', '1'], ['true']],
    ['GET /v3/events/:id/analysis', getEventAnalysis, [undefined, ''], ['1', 'true']],
  ] as const)('adds the details of the receipt to %s', async (_path, contract, without, withDetails) => {
    const keys = await givenApp(getService().table);
    const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store', id: '1' } };
    const id = await givenEvent(keys, { body, storeCalls: 1 });
    const fetchAnalysis = async (receipts: string | undefined) => {
      const query = receipts === undefined ? {} : { receipts };
      const response = await callWithSecretKey(contract, keys, { params: { id }, query });
      return response.body.analysis ?? response.body;
    };
    for (const { context, content } of await Promise.all(without.map(fetchAnalysis))) {
      expect(context.includeHeavyData).toBe(false);
      expect(content).not.toHaveProperty('receipts');
    }
    for (const { context, content } of await Promise.all(withDetails.map(fetchAnalysis))) {
      expect(context.includeHeavyData).toBe(true);
      expect(content).toMatchObject({ receipts: [{ ...body, status: 200, storeCalls: [{ method: 'GET' }] }] });
    }
  });
});

const fetchRaw = async (keys: IssuedApiKeys, id: string) =>
  (await callWithSecretKey(getEventRaw, keys, { params: { id } })).body;

describe('large event', () => {
  it('replaces an incompressible request body of 2 MB by a mark', async () => {
    const keys = await givenApp(getService().table);
    const createNoise = () => ({ id: Array.from({ length: 7 }, () => randomUUID()).join(' ') });
    const createOffers = (depth: number): object =>
      depth === 0 ? createNoise() : { offers: Array.from({ length: 19 }, () => createOffers(depth - 1)) };
    const body = { products: createOffers(3) };
    expect(JSON.stringify(body).length).toBeGreaterThan(1_700_000);
    const raw = await fetchRaw(keys, await givenEvent(keys, { body }));
    expect(raw.request).toMatchObject({ route: '/v1/validate', body: '[trimmed]' });
    expect(raw.response.body.data.transaction).toEqual({ type: 'ios-store', transactionId: '1' });
  });

  it('keeps the first 50 of 500 calls to stores and counts the others', async () => {
    const keys = await givenApp(getService().table);
    const raw = await fetchRaw(keys, await givenEvent(keys, { storeCalls: 500 }));
    expect(raw.externalRequests).toHaveLength(51);
    expect(raw.externalRequests[50].type).toBe('[trimmed] 450 more calls');
  });
});
