import { beforeAll, describe, expect, it } from '@jest/globals';
import { getEventAnalysis } from '../../lib/events/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenEvent } from './event-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

describe('GET /v3/events/:id/analysis', () => {
  it('returns the context and the content of the event', async () => {
    const keys = await givenApp(table);
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
    const keys = await givenApp(table);
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
