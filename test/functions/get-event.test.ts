import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getEvent, getEventAnalysis, getEventRaw } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/container.ts';
import { eventKey } from '../../lib/foundation/keys.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { findEvents, givenEvent } from './event-fixture.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

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

  it('returns the details of the receipt only for receipts=true', async () => {
    const keys = await givenApp(getService().table);
    const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store', id: '1' } };
    const id = await givenEvent(keys, { body, storeCalls: 1 });
    const fetchAnalysis = async (query: Record<string, string>) =>
      (await callWithSecretKey(getEvent, keys, { params: { id }, query })).body.analysis;
    for (const analysis of [await fetchAnalysis({}), await fetchAnalysis({ receipts: '1' })]) {
      expect(analysis.context.includeHeavyData).toBe(false);
      expect(analysis.content).not.toHaveProperty('receipts');
    }
    const analysis = await fetchAnalysis({ receipts: 'true' });
    expect(analysis.context.includeHeavyData).toBe(true);
    expect(analysis.content).toMatchObject({ receipts: [{ ...body, status: 200, storeCalls: [{ method: 'GET' }] }] });
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

  it('returns the details of the receipt for any non-empty value of receipts', async () => {
    const keys = await givenApp(getService().table);
    const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store', id: '1' } };
    const id = await givenEvent(keys, { body, storeCalls: 1 });
    const fetchAnalysis = async (receipts: string) =>
      (await callWithSecretKey(getEventAnalysis, keys, { params: { id }, query: { receipts } })).body;
    const plain = await fetchAnalysis('');
    expect(plain.context.includeHeavyData).toBe(false);
    expect(plain.content).not.toHaveProperty('receipts');
    const detailed = await fetchAnalysis('1');
    expect(detailed.context.includeHeavyData).toBe(true);
    expect(detailed.content).toMatchObject({ receipts: [{ ...body, status: 200, storeCalls: [{ method: 'GET' }] }] });
  });
});

describe.each([getEvent, getEventAnalysis, getEventRaw])('GET $path', (contract) => {
  it('rejects an unknown id with ResourceNotFound', async () => {
    const response = await callWithSecretKey(contract, await givenApp(getService().table), {
      params: { id: randomUUID() },
    });
    expect(response).toMatchObject({ status: 404, body: { code: 'ResourceNotFound' } });
  });

  it("does not return another app's event", async () => {
    const [owner, otherApp] = [await givenApp(getService().table), await givenApp(getService().table)];
    const id = await givenEvent(owner);
    expect((await callWithSecretKey(contract, otherApp, { params: { id } })).status).toBe(404);
  });

  it('does not return an event after its retention, even if the table still has it', async () => {
    const keys = await givenApp(getService().table);
    const id = await givenEvent(keys, { date: Date.now() - 2 * dayMs, retentionDays: 1 });
    expect(await getService().table.get(eventKey(keys.appName, id))).toMatchObject({ type: 'receipt.validated' });
    expect((await callWithSecretKey(contract, keys, { params: { id } })).status).toBe(404);
  });
});
