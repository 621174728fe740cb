import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { errorCodes } from '../../lib/foundation/errors.ts';
import type { LocalService } from '../../local/start-local.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { spawnSuccessfully } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(async () => await service?.close());

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
});
