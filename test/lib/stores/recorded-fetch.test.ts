import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { ExternalCall } from '../../../lib/events/event.ts';
import { createStopwatch } from '../../../lib/foundation/stopwatch.ts';
import { createRecordedFetch } from '../../../lib/stores/recorded-fetch.ts';
import { type HttpServer, startHttpServer } from '../../../local/http-server.ts';

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** Creates a fetch that calls the server, and the list of its recorded calls. */
function createFetch() {
  const calls: ExternalCall[] = [];
  const options = { storeName: 'The store', record: (call: ExternalCall) => calls.push(call), now: () => 0 };
  return { calls, fetch: createRecordedFetch({ ...options, stopwatch: createStopwatch() }) };
}

const largeText = 'ä'.repeat(4 * 1024 * 1024);

describe('createRecordedFetch', () => {
  it('sends method, headers and body, and returns status, headers and text', async () => {
    server = await startHttpServer(async (request, response) => {
      const { method, url, headers } = request;
      const body = await text(request);
      response.writeHead(201, { 'X-Request-Id': 'one' });
      response.end(
        JSON.stringify({ method, url, body, type: headers['content-type'], length: headers['content-length'] }),
      );
    });
    const { fetch, calls } = createFetch();
    const headers = { 'Content-Type': 'text/plain' };
    const response = await fetch(`${server.url}/v1/orders?a=b`, { method: 'POST', headers, body: 'ä' });
    expect(response).toMatchObject({ status: 201, headers: { 'x-request-id': 'one' } });
    expect(JSON.parse(response.text)).toEqual({
      method: 'POST',
      url: '/v1/orders?a=b',
      body: 'ä',
      type: 'text/plain',
      length: '2',
    });
    expect(calls).toMatchObject([{ method: 'POST', response: { status: 201, size: response.text.length } }]);
  });

  it('sends the next call on the same connection, and asks for no compression', async () => {
    const connections = new Set<string>();
    server = await startHttpServer(({ socket, headers }, response) => {
      connections.add(`${socket.remotePort} ${headers['accept-encoding']}`);
      response.end('text');
    });
    const { fetch } = createFetch();
    for (let call = 0; call < 3; call++) expect((await fetch(server.url)).text).toBe('text');
    expect([...connections]).toEqual([expect.stringMatching(/^\d+ identity$/)]);
  });

  it.each<[string, RequestListener, string]>([
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/other' }).end(), 'Error'],
    ['a large body', (_request, response) => response.end(largeText), 'Error'],
    ['a connection that ends before the response', ({ socket }) => socket.destroy(), 'ECONNRESET'],
    [
      'a connection that ends in the body',
      ({ socket }, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('a part', () => socket.destroy());
      },
      'ECONNRESET',
    ],
  ])('throws ConnectionFailed and records the error: %s', async (_title, handle, message) => {
    server = await startHttpServer((request, response) => void handle(request, response));
    const { fetch, calls } = createFetch();
    await expect(fetch(server.url)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(calls).toMatchObject([{ error: { message } }]);
  });

  it('aborts a call at its timeout on the stopwatch, throws ConnectionFailed and records the error', async () => {
    const aborting = new AbortController();
    const timeoutsMs: number[] = [];
    const stopwatch = {
      readMs: () => 0,
      abortAfter: (durationMs: number) => {
        timeoutsMs.push(durationMs);
        return aborting.signal;
      },
    };
    // The store accepts the call and sends no response.
    const reason = Object.assign(new Error('The time is up.'), { name: 'TimeoutError' });
    server = await startHttpServer(() => aborting.abort(reason));
    const calls: ExternalCall[] = [];
    const fetch = createRecordedFetch({
      storeName: 'The store',
      record: (call) => calls.push(call),
      now: () => 0,
      stopwatch,
    });
    await expect(fetch(server.url, { timeoutMs: 4_500 })).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(timeoutsMs).toEqual([4_500]);
    expect(calls).toMatchObject([{ method: 'GET', error: { message: 'TimeoutError' } }]);
  });
});
