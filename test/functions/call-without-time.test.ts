import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Context } from 'aws-lambda';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getEvent, listEvents } from '../../lib/events/contract.ts';
import { clientOptions } from '../../lib/foundation/container.ts';
import { createMessageQueue } from '../../lib/foundation/message-queue.ts';
import { createTableClient } from '../../lib/foundation/table.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import { buildBasicAuth, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { buildProxyEvent } from '../../testing/proxy-event.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let silentServer: HttpServer;
beforeEach(async () => {
  silentServer = await startHttpServer(() => {});
  process.env.AWS_ENDPOINT_URL_SQS = silentServer.url;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await silentServer.close();
});

/** Calls an endpoint whose work does not end in 50 ms. */
async function callWithoutTime(keys: IssuedApiKeys, work: () => Promise<unknown>) {
  const handle = createHandler(getPurchase)(async () => {
    await work();
    return await new Promise<never>(() => undefined);
  });
  const request = buildProxyEvent({
    httpMethod: 'GET',
    path: '/v3/purchases/store_a:1',
    headers: buildBasicAuth(keys.appName, keys.secretKey),
    queryStringParameters: null,
    body: null,
  });
  const { statusCode, body } = await handle(request, {
    getRemainingTimeInMillis: () => 1_050,
  } as Partial<Context> as Context);
  return { statusCode, body: JSON.parse(body) };
}

describe('call that does not end within the time of its function', () => {
  it('returns status 504 a second before the end, with an event and a log line', async () => {
    const keys = await givenApp(table);
    const logError = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const called = await callWithoutTime(keys, async () => undefined);
    const [status, code, message] = [504, 'InternalError', 'The service timed out.'];
    expect(called).toMatchObject({ statusCode: status, body: { code, message } });
    const { id: endpoint, eventType: type } = getPurchase;
    const logged = { code, message, endpoint, app: keys.appName };
    expect(logError).toHaveBeenCalledWith(expect.objectContaining(logged));
    const { body: events } = await callWithSecretKey(listEvents, keys);
    const { body: recorded } = await callWithSecretKey(getEvent, keys, { params: { id: events.rows[0].eventId } });
    expect(recorded.raw).toMatchObject({ type, response: { status, message } });
  });

  it.each([
    ['none', async () => await table.get({ pk: 'pk', sk: 'sk' })],
    [
      'DynamoDB_20120810.Query',
      async () => {
        const options = { ...clientOptions(), maxAttempts: 1, endpoint: silentServer.url };
        const slowTable = createTableClient('slow', options);
        await Promise.all(['first', 'second'].map((partition) => slowTable.query({ partition })));
      },
    ],
    [
      'AmazonSQS.SendMessageBatch',
      async () => await createMessageQueue(() => 'https://queue.invalid', clientOptions()).send([{}]),
    ],
  ])('logs the operations of AWS that it waited for: %s', async (operations, work) => {
    const keys = await givenApp(table);
    const logError = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { body } = await callWithoutTime(keys, work);
    const cause = `Pending: ${operations}`;
    expect(logError).toHaveBeenCalledWith(expect.objectContaining({ message: 'The service timed out.', cause }));
    expect(JSON.stringify(body)).not.toContain('Pending');
  });
});
