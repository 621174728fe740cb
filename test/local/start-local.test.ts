import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { errorCodes } from '../../lib/foundation/errors.ts';
import { tableVersionKey } from '../../lib/foundation/keys.ts';
import { createTableClient } from '../../lib/foundation/table.ts';
import { buildUpdate } from '../../lib/foundation/updates.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import type { LocalService } from '../../local/start-local.ts';
import { startTableEngine } from '../../local/table-engine/start-table-engine.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { spawnSuccessfully } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startLocalService);

const publicKey = (one = service) => buildBasicAuth(one.appName, one.publicKey);
const secretKey = (one = service) => buildBasicAuth(one.appName, one.secretKey);

/** Buys a subscription in the emulator and returns the validation request of a client. */
async function bought(applicationUsername: string, one = service): Promise<string> {
  const body = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  const response = await fetch(`${one.emulatorUrl}/control/purchases`, { method: 'POST', body: JSON.stringify(body) });
  const { validate } = (await response.json()) as { validate: object };
  return JSON.stringify(validate);
}

async function validate(body: string, one = service): Promise<unknown> {
  const response = await fetch(`${one.baseUrl}/v1/validate`, { method: 'POST', headers: publicKey(one), body });
  return await response.json();
}

async function purchasesOf(username: string, one = service): Promise<unknown> {
  const url = `${one.baseUrl}/v3/customers/${encodeURIComponent(username)}/purchases`;
  return await (await fetch(url, { headers: secretKey(one) })).json();
}

async function setNotificationUrl({ emulatorUrl }: LocalService, platform: string, url: string | null): Promise<void> {
  const body = JSON.stringify({ url });
  await fetch(`${emulatorUrl}/control/notifications/${platform}`, { method: 'PUT', body });
}

async function getNotificationUrls({ emulatorUrl }: LocalService): Promise<unknown> {
  const response = await fetch(`${emulatorUrl}/control/notifications`);
  return ((await response.json()) as { urls: unknown }).urls;
}

const active = (applicationUsername: string) => ({
  applicationUsername,
  purchases: { 'store_a:premium': { isExpired: false } },
});

describe('startLocal', () => {
  it('validates a receipt of an emulated store and returns the entitlement', async () => {
    expect(await validate(await bought('alice'))).toMatchObject({ ok: true });
    expect(await purchasesOf('alice')).toMatchObject(active('alice'));
  });

  it.each(['a/b?c#d%e+f g', 'é 日本 🎉', '%2F'])('stores a purchase of the customer %s', async (username) => {
    await validate(await bought(username));
    expect(await purchasesOf(username)).toMatchObject(active(username));
  });

  it('accepts a preflight request for validations and rejects one for secret-key reads', async () => {
    const preflight = async (path: string) => await fetch(`${service.baseUrl}${path}`, { method: 'OPTIONS' });
    const allowed = await preflight('/v1/validate');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-headers')).toContain('authorization');
    expect((await preflight('/v3/customers/alice')).status).toBe(404);
  });

  it('returns gateway errors in the error format of the service', async () => {
    const response = await fetch(`${service.baseUrl}/v3/nothing-here`);
    expect(response.status).toBe(404);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({
      ok: false,
      code: 'ResourceNotFound' satisfies keyof typeof errorCodes,
    });
  });

  it("expires a subscription when the emulator's clock passes its end", async () => {
    await validate(await bought('bob'));
    await fetch(`${service.emulatorUrl}/control/clock`, { method: 'POST', body: JSON.stringify({ advance: 'P1M1D' }) });
    expect(await purchasesOf('bob')).toMatchObject({ purchases: { 'store_a:premium': { isExpired: true } } });
  });
});

/** Rotates both keys and changes the webhook URL with the CLI while the service runs. */
async function rotateAll({ appName, environment }: LocalService): Promise<void> {
  const cli = async (...args: string[]) => await spawnSuccessfully(environment, ['app', ...args]);
  await cli('rotate-key', appName, 'public', '--overlap-hours', '0');
  await cli('rotate-key', appName, 'secret', '--overlap-hours', '0');
  await cli('set-webhook', appName, '--url', 'http://127.0.0.1:9/elsewhere');
}

/** Starts a proxy that delays the read of the version of the table by more than schedules take to start. */
async function startSlowVersionRead(endpoint: string): Promise<HttpServer> {
  return await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    if (body.includes(tableVersionKey().pk)) await sleep(3_000);
    const names = ['authorization', 'content-type', 'x-amz-date', 'x-amz-target'];
    const headers = names.map((name): [string, string] => [name, String(request.headers[name])]);
    const result = await fetch(endpoint, { method: 'POST', headers, body });
    response.writeHead(result.status, { 'content-type': 'application/x-amz-json-1.0' }).end(await result.text());
  });
}

describe('startLocal with a data folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('keeps API keys, purchases, store state, notification URLs and clock over a restart and prints valid keys after a rotation', async () => {
    const first = await startLocalService({ folder });
    const receipt = await bought('carol', first);
    await validate(receipt, first);
    await setNotificationUrl(first, 'store_b', 'http://127.0.0.1:9/v3/webhook/store_b/other');
    await setNotificationUrl(first, 'processor_b', null);
    await fetch(`${first.emulatorUrl}/control/clock`, { method: 'POST', body: JSON.stringify({ advance: 'P1D' }) });
    await first.close();

    const second = await startLocalService({ folder });
    const { appName, publicKey, secretKey } = second;
    expect({ app: appName, publicKey, secretKey }).toEqual({
      app: first.appName,
      publicKey: first.publicKey,
      secretKey: first.secretKey,
    });
    expect(await purchasesOf('carol', second)).toMatchObject(active('carol'));
    expect(await validate(receipt, second)).toMatchObject({ ok: true });
    const { now } = (await (await fetch(`${second.emulatorUrl}/control`)).json()) as { now: string };
    expect(Date.parse(now)).toBeGreaterThan(Date.now() + 23 * 60 * 60 * 1000);
    expect(await getNotificationUrls(second)).toMatchObject({
      store_a: `${second.baseUrl}/v3/webhook/store_a/${appName}`,
      store_b: 'http://127.0.0.1:9/v3/webhook/store_b/other',
    });
    expect(await getNotificationUrls(second)).not.toHaveProperty('processor_b');
    await rotateAll(second);
    await second.close();

    const third = await startLocalService({ folder });
    expect([third.publicKey, third.secretKey]).not.toContain(first.publicKey);
    expect(third.webhooks.urls).toEqual(['http://127.0.0.1:9/elsewhere']);
    expect(await validate(receipt, third)).toMatchObject({ ok: true });
    expect(await purchasesOf('carol', third)).toMatchObject(active('carol'));
    await third.close();
  });

  it('rejects a table of an earlier version before a function uses it', async () => {
    const first = await startLocalService({ folder });
    await validate(await bought('dora', first), first);
    await first.close();
    const engine = await startTableEngine({ directory: folder, hasStreams: true });
    const table = createTableClient(first.environment.TABLE_NAME ?? '', { endpoint: engine.endpoint });
    await table.update(buildUpdate(tableVersionKey(), { version: 1 }));
    const slowEngine = await startSlowVersionRead(engine.endpoint);
    process.env.DYNAMODB_ENDPOINT = slowEngine.url;

    const calls: unknown[] = [];
    const record = (...call: unknown[]) => void calls.push(call);
    const start = startLocalService({ folder, onAccess: record, log: record });
    await expect(start).rejects.toThrow('The table has version 1, which this release cannot convert');
    delete process.env.DYNAMODB_ENDPOINT;
    await slowEngine.close();
    await engine.close();
    expect(calls).toEqual([]);
  });
});
