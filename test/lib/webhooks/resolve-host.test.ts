import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createGuardedPost } from '../../../lib/webhooks/guarded-post.ts';
import { createDnsResolver } from '../../../lib/webhooks/resolve-host.ts';
import { type NameServer, startNameServer } from '../../../testing/name-server.ts';

const v4 = '93.184.216.34';
const v6 = '2606:4700::6810:84e5';
const silent = Array.from({ length: 12 }, (_, index) => `silent-${index}.example`);

let server: NameServer;
beforeAll(async () => {
  server = await startNameServer({
    'both.example': [v4, v6],
    'old.example': [v4, '93.184.216.35'],
    'new.example': [v6],
    'mail.example': [],
    'inside.example': [v4, '10.0.0.1'],
    ...Object.fromEntries(silent.map((name) => [name, 'nothing' as const])),
  });
});
afterAll(async () => await server.close());

const resolve = async (host: string, timeoutMs = 200) =>
  await createDnsResolver({ servers: [server.address], timeoutMs })(host);

const post = async (url: string) =>
  await createGuardedPost({ allowsLoopback: false, resolve })({ url, headers: {}, body: '{}' });

describe('the name of an application’s server', () => {
  it.each([
    ['both.example', [v4, v6]],
    ['old.example', [v4, '93.184.216.35']],
    ['new.example', [v6]],
  ])('has every address that the name servers tell: %s', async (host, expected) => {
    expect((await resolve(host)).map(({ address }) => address)).toEqual(expected);
  });

  it('is looked for while nobody answers for a dozen others', async () => {
    const others = silent.map(async (host) => await resolve(host, 1_000).catch(({ code }) => code));
    const startedAt = Date.now();
    expect(await resolve('old.example')).toHaveLength(2);
    expect(Date.now() - startedAt).toBeLessThan(500);
    expect(new Set(await Promise.all(others))).toEqual(new Set(['ETIMEOUT']));
  });

  it.each([
    ['nowhere.example', 'There was no connection: the name does not exist (ENOTFOUND).'],
    ['mail.example', 'There was no connection: the name has no address (ENODATA).'],
    ['silent-0.example', 'There was no connection: the name servers did not answer (ETIMEOUT).'],
  ])('that leads nowhere is told of: %s', async (host, message) => {
    expect(await post(`https://${host}/`)).toEqual({ failure: 'no-connection', message });
  });

  it('may have no address among its public ones that is not public', async () => {
    expect(await post('https://inside.example/')).toMatchObject({ failure: 'forbidden' });
  });
});
