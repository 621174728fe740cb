import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ApiKeyLevel } from '../../lib/apps/app.ts';
import {
  type CreatedKey,
  createApiKey,
  type IssuedApiKeys,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../../lib/apps/manage-apps.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { listEvents } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs, hourMs } from '../../lib/foundation/time.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, type CallOptions, callEndpoint, callWithSecretKey } from '../../testing/call.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
let keys: IssuedApiKeys;
beforeEach(async () => {
  keys = await service.createApp([]);
});

const createKey = async (level: ApiKeyLevel, name: string, validMs?: number): Promise<CreatedKey> =>
  await createApiKey(getService(), keys.appName, {
    level,
    name,
    now: getService().now(),
    ...(validMs !== undefined && { validMs }),
  });

/** Calls a contract with a key. Returns the HTTP status, or the status in the body if all responses have status 200. */
async function fetchStatus(contract: (typeof contracts)[number], key: string, options: CallOptions = {}) {
  const headers = buildBasicAuth(keys.appName, key);
  const { status, body } = await callEndpoint(contract, { ...options, headers });
  return { status: typeof body.status === 'number' ? body.status : status, message: body.message };
}

describe('API key with a name', () => {
  it.each([
    ['public', /^pub_/],
    ['secret', /^sec_/],
    ['viewer', /^view_/],
  ] as const)('authenticates a request, whose event names it: %s', async (level, pattern) => {
    const { key, id } = await createKey(level, 'laptop of Zoë');
    expect(key).toMatch(pattern);
    const contract = level === 'public' ? contracts.find((other) => other.id === 'get-prices') : listPurchases;
    await callEndpoint(contract ?? listPurchases, { headers: buildBasicAuth(keys.appName, key) });
    const { body } = await callWithSecretKey(listEvents, keys);
    expect(body.rows[0].context.key).toEqual({ id, name: 'laptop of Zoë', level });
    const { body: later } = await callWithSecretKey(listEvents, keys);
    expect(later.rows[0].context.key).toMatchObject({ name: 'main', level: 'secret' });
  });

  it('works after a second in a function that has the app cached', async () => {
    expect(await fetchStatus(listPurchases, keys.secretKey)).toMatchObject({ status: 200 });
    const { key } = await createKey('viewer', 'support');
    await service.callControl('/clock', { advance: 'PT1S' });
    expect(await fetchStatus(listPurchases, key)).toMatchObject({ status: 200 });
  });

  it('ends at its expiration', async () => {
    const { key } = await createKey('secret', 'contractor', hourMs);
    expect(await fetchStatus(listPurchases, key)).toMatchObject({ status: 200 });
    await service.callControl('/clock', { advance: 'PT2H' });
    expect(await fetchStatus(listPurchases, key)).toMatchObject({ status: 401 });
  });

  it('ends when it is revoked, without an effect on other keys', async () => {
    const { key, id } = await createKey('viewer', 'support');
    const other = await createKey('viewer', 'finance');
    await revokeApiKey(getService(), keys.appName, id);
    // All functions use a changed key within 15 seconds.
    await service.callControl('/clock', { advance: 'PT1M' });
    expect(await fetchStatus(listPurchases, key)).toMatchObject({ status: 401 });
    expect(await fetchStatus(listPurchases, other.key)).toMatchObject({ status: 200 });
  });

  it('stays valid when the main key is rotated', async () => {
    const { key } = await createKey('secret', 'backend');
    const rotated = await rotateApiKey(getService(), keys.appName, {
      level: 'secret',
      overlapMs: 0,
      now: getService().now(),
    });
    await service.callControl('/clock', { advance: 'PT1M' });
    expect(await fetchStatus(listPurchases, key)).toMatchObject({ status: 200 });
    expect(await fetchStatus(listPurchases, rotated)).toMatchObject({ status: 200 });
    expect(await fetchStatus(listPurchases, keys.secretKey)).toMatchObject({ status: 401 });
  });

  it('appears in the list without the key itself', async () => {
    const { key, ...listed } = await createKey('viewer', 'support', dayMs);
    const all = await listApiKeys(getService(), keys.appName);
    expect(all).toContainEqual(listed);
    expect(all.map(({ level, name }) => `${level} ${name}`)).toEqual(['public main', 'secret main', 'viewer support']);
    expect(JSON.stringify(all)).not.toContain(key);
    expect(listed.expiresAt).toBe((listed.createdAt ?? 0) + dayMs);
  });

  it.each(['', ' '.repeat(65), 'a\nb', '<script>'])('requires a valid name, not %j', async (name) => {
    await expect(createKey('viewer', name)).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('requires a name that no other key of its level has', async () => {
    await createKey('viewer', 'support');
    await expect(createKey('viewer', 'support')).rejects.toMatchObject({ code: 'Conflict' });
    await expect(createKey('secret', 'main')).rejects.toMatchObject({ code: 'Conflict' });
    await expect(createKey('secret', 'support')).resolves.toMatchObject({ level: 'secret' });
  });
});

describe('revokeApiKey', () => {
  it('rejects the key that webhooks contain, and an unknown id', async () => {
    const [main] = (await listApiKeys(getService(), keys.appName)).filter(({ level }) => level === 'secret');
    await expect(revokeApiKey(getService(), keys.appName, main?.id ?? '')).rejects.toMatchObject({ code: 'Conflict' });
    await expect(revokeApiKey(getService(), keys.appName, 'abc')).rejects.toMatchObject({ code: 'ResourceNotFound' });
  });
});
