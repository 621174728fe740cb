import { beforeAll, describe, expect, it } from '@jest/globals';
import { getEventRaw } from '../../lib/events/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenEvent } from './event-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

describe('GET /v3/events/:id/raw', () => {
  it('returns the request, the response and the calls to stores', async () => {
    const keys = await givenApp(table);
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
    const [owner, otherApp] = [await givenApp(table), await givenApp(table)];
    const id = await givenEvent(owner);
    const response = await callWithSecretKey(getEventRaw, otherApp, { params: { id: `x#E#${id}` } });
    expect(response.status).toBe(404);
  });
});
