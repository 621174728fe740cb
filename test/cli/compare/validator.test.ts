import { afterEach, describe, expect, it } from '@jest/globals';
import { createValidator } from '../../../cli/compare/validator.ts';
import { type HttpServer, startHttpServer } from '../../../local/http-server.ts';

let server: HttpServer | undefined;
afterEach(async () => await server?.close());

/** Requests the purchases of a customer from a validator that responds with this status and body. */
async function listPurchases(status: number, body: string) {
  server = await startHttpServer((_request, response) => void response.writeHead(status).end(body));
  const signal = new AbortController().signal;
  const options = { title: 'The other validator', url: server.url, appName: 'app', key: 'sec_1', maxWaitMs: 0, signal };
  return await createValidator(options).listPurchases('ann');
}

describe('listPurchases', () => {
  it.each([
    [{ ok: false, code: 7691005, message: 'The customer is not found.' }],
    [{ ok: false, message: 'Customer not found' }],
  ])('returns no purchase for a customer that the validator does not have: %j', async (body) => {
    expect(await listPurchases(404, JSON.stringify(body))).toEqual({ isOk: true, purchases: [] });
  });

  it.each([
    ['an unknown app', 404, '{"ok":false,"code":7691001,"message":"The app is not found."}'],
    ['a wrong path', 404, '{"message":"Not Found"}'],
    ['another server', 404, '<html>'],
    ['a rejected key', 403, '{"ok":false,"code":7691003,"message":"Forbidden"}'],
  ])('throws Forbidden for %s', async (_cause, status, body) => {
    await expect(listPurchases(status, body)).rejects.toMatchObject({
      code: 'Forbidden',
      message: expect.stringContaining('Check its URL, app and key.'),
    });
  });
});
