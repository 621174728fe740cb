import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createGuardedPost } from '../../../lib/webhooks/guarded-post.ts';
import type { ResolvedAddress } from '../../../lib/webhooks/resolve-host.ts';
import { type ApplicationServer, startApplicationServer } from '../../../testing/application-server.ts';

let server: ApplicationServer;
beforeAll(async () => {
  server = await startApplicationServer();
});
afterAll(async () => await server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.respondWith({ status: 200 });
});

const deployed = { allowsLoopback: false };
const local = { allowsLoopback: true };
const message = (url: string) => ({ url, headers: { 'x-test': '1' }, body: '{"é":1}' });
const at = (...addresses: string[]): readonly ResolvedAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('a guarded POST', () => {
  it('delivers the body and tells the status and the start of the answer', async () => {
    server.respondWith({ status: 503, headers: { 'retry-after': '7' }, body: 'x'.repeat(100_000) });
    const posted = await createGuardedPost(local)(message(`${server.url}/hooks`));
    expect(posted).toEqual({ status: 503, retryAfter: '7', start: 'x'.repeat(4096) });
    expect(server.requests).toMatchObject([{ path: '/hooks', body: '{"é":1}', headers: { 'x-test': '1' } }]);
  });

  it('goes to the address that was checked, whatever the name resolves to afterwards, and keeps the host', async () => {
    let asked = 0;
    // A rebinding name: this machine would answer the second time.
    const resolve = async () => at(asked++ === 0 ? '127.0.0.1' : '10.0.0.1');
    const port = new URL(server.url).port;
    const posted = await createGuardedPost({ ...local, resolve })(message(`http://rebinding.example:${port}/`));
    expect(posted).toMatchObject({ status: 200 });
    expect(asked).toBe(1);
    expect(server.requests[0]?.headers.host).toBe(`rebinding.example:${port}`);
  });

  it.each([[at('127.0.0.1')], [at('93.184.216.34', '10.0.0.1')], [at('::ffff:127.0.0.1')], [at()]])(
    'goes nowhere when a name resolves to %j',
    async (addresses) => {
      const post = createGuardedPost({ ...deployed, resolve: async () => addresses });
      expect(await post(message('https://inside.example/'))).toMatchObject({ failure: 'forbidden' });
    },
  );

  it('follows no redirect', async () => {
    server.respondWith({ status: 302, headers: { location: `${server.url}/elsewhere` } });
    expect(await createGuardedPost(local)(message(`${server.url}/`))).toMatchObject({ status: 302 });
    expect(server.requests).toHaveLength(1);
  });

  it('ends in time when the name, the answer or its rest never comes', async () => {
    const timeoutMs = 150;
    const never = createGuardedPost({ ...local, timeoutMs, resolve: () => new Promise(() => {}) });
    expect(await never(message('http://slow.example/'))).toMatchObject({ failure: 'timeout' });
    server.respondWith({ status: 200, hangs: true });
    expect(await createGuardedPost({ ...local, timeoutMs })(message(server.url))).toMatchObject({ failure: 'timeout' });
    server.respondWith({ status: 200, headers: { 'content-length': '100' }, body: 'short' });
    expect(await createGuardedPost({ ...local, timeoutMs })(message(server.url))).toEqual({
      status: 200,
      start: 'short',
    });
  });

  it('tells of a refused connection', async () => {
    expect(await createGuardedPost(local)(message('http://127.0.0.1:1/'))).toMatchObject({ failure: 'no-connection' });
  });

  it.each([
    [
      'switches to another protocol',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      { status: 101 },
    ],
    ['announces its answer first', 'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 None\r\n\r\n', { status: 204 }],
    ['never ends its body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe', { status: 200 }],
    ['speaks no HTTP', 'SSH-2.0-OpenSSH\r\n', { failure: 'no-connection' }],
    ['sends endless headers', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`, { failure: 'no-connection' }],
  ])('ends in time with a server that %s', async (_what, result, expected) => {
    const odd = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.write(result));
    });
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
    const { port } = odd.address() as AddressInfo;
    const posted = await createGuardedPost({ ...local, timeoutMs: 300 })(message(`http://127.0.0.1:${port}/`));
    expect(posted).toMatchObject(expected);
    odd.close();
  });
});
