import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { getEvent, listEvents } from '../../lib/events/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { buildProxyEvent } from '../../testing/proxy-event.ts';
import { createTestTable } from '../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a call that does not end within the time of its function', () => {
  it('returns status 504 a second before the end, and is recorded and logged', async () => {
    const keys = await givenApp(table);
    const logError = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const handle = createHandler(getPurchase)(async () => await new Promise<never>(() => undefined));
    const request = buildProxyEvent({
      httpMethod: 'GET',
      path: '/v3/purchases/store_a:1',
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      queryStringParameters: null,
      body: null,
    });
    const context = { getRemainingTimeInMillis: () => 1_050 } as Partial<Context> as Context;
    const { statusCode, body } = await handle(request, context);
    const [status, code, message] = [504, 'InternalError', 'The service timed out.'];
    expect({ statusCode, body: JSON.parse(body) }).toMatchObject({ statusCode: status, body: { code, message } });
    const { id: endpoint, eventType: type } = getPurchase;
    const logged = { code, message, endpoint, app: keys.appName };
    expect(logError).toHaveBeenCalledWith(expect.objectContaining(logged));
    const { body: events } = await callWithSecretKey(listEvents, keys);
    const { body: recorded } = await callWithSecretKey(getEvent, keys, { params: { id: events.rows[0].eventId } });
    expect(recorded.raw).toMatchObject({ type, response: { status, message } });
  });
});
