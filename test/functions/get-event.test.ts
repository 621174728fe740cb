import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getEvent } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/container.ts';
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
