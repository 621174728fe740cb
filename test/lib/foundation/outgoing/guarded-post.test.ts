import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createGuardedPost } from '../../../../lib/foundation/outgoing/guarded-post.ts';
import type { ResolvedAddress } from '../../../../lib/foundation/outgoing/resolve-host.ts';
import { secondMs } from '../../../../lib/foundation/time.ts';
import { useApplicationServer } from '../../webhooks/application-server-fixture.ts';

const getServer = useApplicationServer();

const publicOnly = { allowsLoopback: false };

/** The timeout is long enough for a busy machine. */
const withLoopback = { allowsLoopback: true, timeoutMs: 30 * secondMs };
const buildRequest = (url: string) => ({ url, headers: { 'x-test': '1' }, body: '{"é":1}' });
const toAddresses = (...addresses: string[]): readonly ResolvedAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('createGuardedPost', () => {
  it('sends the body and returns the status and the start of the response', async () => {
    getServer().respondWith({ status: 503, headers: { 'retry-after': '7' }, body: 'x'.repeat(100_000) });
    const outcome = await createGuardedPost(withLoopback)(buildRequest(`${getServer().url}/hooks`));
    expect(outcome).toEqual({ status: 503, retryAfter: '7', bodyExcerpt: 'x'.repeat(4096) });
    expect(getServer().requests).toMatchObject([{ path: '/hooks', body: '{"é":1}', headers: { 'x-test': '1' } }]);
  });

  it('connects to the checked address and sends the host of the URL', async () => {
    let resolutions = 0;
    // DNS rebinding: the second resolution returns another address.
    const resolve = async () => toAddresses(resolutions++ === 0 ? '127.0.0.1' : '10.0.0.1');
    const { port } = new URL(getServer().url);
    const post = createGuardedPost({ ...withLoopback, resolve });
    expect(await post(buildRequest(`http://rebinding.example:${port}/`))).toMatchObject({ status: 200 });
    expect(resolutions).toBe(1);
    expect(getServer().requests[0]?.headers.host).toBe(`rebinding.example:${port}`);
  });

  it.each([
    [toAddresses('127.0.0.1')],
    [toAddresses('93.184.216.34', '10.0.0.1')],
    [toAddresses('::ffff:127.0.0.1')],
    [toAddresses()],
  ])('rejects a host that resolves to %j', async (addresses) => {
    const post = createGuardedPost({ ...publicOnly, resolve: async () => addresses });
    expect(await post(buildRequest('https://inside.example/'))).toMatchObject({ failure: 'forbidden' });
  });

  it('does not follow redirects', async () => {
    getServer().respondWith({ status: 302, headers: { location: `${getServer().url}/elsewhere` } });
    expect(await createGuardedPost(withLoopback)(buildRequest(`${getServer().url}/`))).toMatchObject({ status: 302 });
    expect(getServer().requests).toHaveLength(1);
  });

  it('times out if the name resolution does not end', async () => {
    const post = createGuardedPost({ allowsLoopback: true, timeoutMs: 150, resolve: () => new Promise(() => {}) });
    expect(await post(buildRequest('http://slow.example/'))).toMatchObject({ failure: 'timeout' });
  });

  it('times out if the server does not respond', async () => {
    getServer().respondWith({ status: 200, hangs: true });
    const post = createGuardedPost({ allowsLoopback: true, timeoutMs: 150 });
    expect(await post(buildRequest(getServer().url))).toMatchObject({ failure: 'timeout' });
  });

  it('returns the status if the response body does not end', async () => {
    getServer().respondWith({ status: 200, headers: { 'content-length': '100' }, body: 'short' });
    const post = createGuardedPost(withLoopback);
    expect(await post(buildRequest(getServer().url))).toEqual({ status: 200, bodyExcerpt: 'short' });
  });

  it('returns a failure for a refused connection', async () => {
    const outcome = await createGuardedPost(withLoopback)(buildRequest('http://127.0.0.1:1/'));
    expect(outcome).toMatchObject({ failure: 'no-connection' });
  });

  it.each([
    [
      'switches to another protocol',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      { status: 101 },
    ],
    ['sends an informational response first', 'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 None\r\n\r\n', { status: 204 }],
    ['does not end a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe', { status: 200 }],
    ['does not use HTTP', 'SSH-2.0-OpenSSH\r\n', { failure: 'no-connection' }],
    ['sends endless headers', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`, { failure: 'no-connection' }],
  ])('handles a server that %s', async (_behavior, response, expected) => {
    const rawServer = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.write(response));
    });
    await new Promise<void>((resolve) => rawServer.listen(0, '127.0.0.1', resolve));
    const { port } = rawServer.address() as AddressInfo;
    const outcome = await createGuardedPost(withLoopback)(buildRequest(`http://127.0.0.1:${port}/`));
    expect(outcome).toMatchObject(expected);
    rawServer.close();
  });
});
