import { describe, expect, it } from '@jest/globals';
import { createGuardedPost } from '../../../../lib/foundation/outgoing/guarded-post.ts';
import { createDnsResolver } from '../../../../lib/foundation/outgoing/resolve-host.ts';
import { minuteMs, secondMs } from '../../../../lib/foundation/time.ts';
import { startNameServer } from '../../../../testing/name-server.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';

const v4 = '93.184.216.34';
const v6 = '2606:4700::6810:84e5';
const silentHosts = Array.from({ length: 12 }, (_, index) => `silent-${index}.example`);

const server = startBeforeAll(
  async () =>
    await startNameServer({
      'both.example': [v4, v6],
      'old.example': [v4, '93.184.216.35'],
      'new.example': [v6],
      'mail.example': [],
      'inside.example': [v4, '10.0.0.1'],
      ...Object.fromEntries(silentHosts.map((host) => [host, 'nothing' as const])),
    }),
);

/** A query of an unresponsive host takes three times as long as the timeout. */
const resolve = async (host: string, timeoutMs = 5 * secondMs) =>
  await createDnsResolver({ servers: [server.address], timeoutMs })(host);

const post = async (url: string, timeoutMs?: number) =>
  await createGuardedPost({
    allowsLoopback: false,
    resolve: async (host) => await resolve(host, timeoutMs),
    timeoutMs: minuteMs,
  })({ url, headers: {}, body: '{}' });

describe('createDnsResolver', () => {
  it.each([
    ['both.example', [v4, v6]],
    ['old.example', [v4, '93.184.216.35']],
    ['new.example', [v6]],
  ])('returns all addresses of %s', async (host, expected) => {
    expect((await resolve(host)).map(({ address }) => address)).toEqual(expected);
  });

  it('resolves a host while the queries for a dozen other hosts are unanswered', async () => {
    let settledQueries = 0;
    const silentQueries = silentHosts.map(async (host) => {
      const code = await resolve(host, 2 * secondMs).catch((error) => error.code);
      settledQueries++;
      return code;
    });
    expect(await resolve('old.example')).toHaveLength(2);
    expect(settledQueries).toBe(0);
    expect(new Set(await Promise.all(silentQueries))).toEqual(new Set(['ETIMEOUT']));
  });
});

describe('createGuardedPost', () => {
  it.each([
    ['nowhere.example', 'The connection failed: the domain name does not exist (ENOTFOUND).', undefined],
    ['mail.example', 'The connection failed: the domain name has no address (ENODATA).', undefined],
    ['silent-0.example', 'The connection failed: the name servers did not respond (ETIMEOUT).', 200],
  ])('describes the DNS error for %s', async (host, message, timeoutMs) => {
    expect(await post(`https://${host}/`, timeoutMs)).toEqual({ failure: 'no-connection', message });
  });

  it('rejects a host with any address that is not public', async () => {
    expect(await post('https://inside.example/')).toMatchObject({ failure: 'forbidden' });
  });
});
