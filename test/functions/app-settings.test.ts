import { describe, expect, it } from '@jest/globals';
import { createKey, listKeys, revokeKey } from '../../lib/apps/api-key-contract.ts';
import { findApp, findWebhookSender } from '../../lib/apps/app-table.ts';
import { changeApp, getApp, setWebhook, testAlert } from '../../lib/apps/contract.ts';
import { changeSettings, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { findStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { getEventRaw, listEvents } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { platforms } from '../../lib/foundation/platform.ts';
import { setAlertUrl } from '../../lib/problems/set-alert-url.ts';
import { getStoreSettings, setStore } from '../../lib/stores/contract.ts';
import { saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { startApplicationServer } from '../../testing/application-server.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
const keys = startBeforeAll(async () => await service.createApp(['store_a']));

/** Returns all recorded events of the app, raw, as text. */
async function readEvents(): Promise<string> {
  const { rows } = (await callWithSecretKey(listEvents, keys)).body;
  const raw = await Promise.all(
    rows.map(
      async ({ eventId: id }: { eventId: string }) =>
        (await callWithSecretKey(getEventRaw, keys, { params: { id } })).body,
    ),
  );
  return JSON.stringify(raw);
}

describe('GET /v3/app', () => {
  it('returns the settings of the app and the stores that it is connected to', async () => {
    const keys = await service.createApp(['store_a', 'processor_b']);
    const catalogue = { gold: { type: 'paid subscription', billingPeriod: 'P1M' } } as const;
    await saveCatalogue(getService(), keys.appName, catalogue);
    await changeSettings(getService(), keys.appName, { strategy: 'last' });
    const { status, body } = await callWithSecretKey(getApp, keys);
    expect(status).toBe(200);
    expect(body).toMatchObject({ appName: keys.appName, strategy: 'last', vocabulary: 'neutral', catalogue });
    const connected = body.stores.filter(({ isConnected }: { isConnected: boolean }) => isConnected);
    expect(connected).toEqual([
      {
        platform: 'store_a',
        isConnected: true,
        notificationUrl: `https://api.example.com/live/v3/webhook/store_a/${keys.appName}`,
      },
      {
        platform: 'processor_b',
        isConnected: true,
        notificationUrl: `https://api.example.com/live/v3/webhook/processor_b/${keys.appName}`,
      },
    ]);
    expect(body.stores.find(({ platform }: { platform: string }) => platform === 'store_c')).toEqual({
      platform: 'store_c',
      isConnected: false,
    });
    expect(body.service).toEqual({ version: expect.any(String), emulatorUrl: service.emulatorUrl });
  });

  it('lists the products that have figures only on request', async () => {
    const keys = await service.createApp([]);
    const catalogue = { 'store_a:premium': { type: 'paid subscription' }, unsold: { type: 'consumable' } } as const;
    await saveCatalogue(getService(), keys.appName, catalogue);
    const { purchase } = createObservation({ purchaseId: 'store_a:1', productId: 'store_a:premium' });
    const transactions = [createTransaction(purchase)];
    await givenPurchase(keys.appName, 'ann', { asOf: Date.now(), purchase, transactions, userAliases: [] });
    const query = { include_products: 'true' };
    expect((await callWithSecretKey(getApp, keys, { query })).body.productIds).toEqual(['store_a:premium']);
    expect((await callWithSecretKey(getApp, keys)).body).not.toHaveProperty('productIds');
  });

  it('returns webhook URLs without their credentials', async () => {
    const keys = await service.createApp([]);
    const secret = 'a-token-of-more-than-25-characters';
    const urls = [`https://example.com/hooks/${secret}?key=${secret}`];
    await saveWebhook(
      getService(),
      keys.appName,
      { urls, sandboxUrls: [], includesPassword: false },
      { newSecret: false },
    );
    const { body } = await callWithSecretKey(getApp, keys);
    expect(body.webhooks).toEqual({
      urls: ['https://example.com/hooks/…'],
      sandboxUrls: [],
      includesPassword: false,
      events: [],
    });
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it('contains neither keys nor store settings', async () => {
    const keys = await service.createApp(['store_a', 'store_b', 'processor_a']);
    const text = JSON.stringify((await callWithSecretKey(getApp, keys)).body);
    expect(text).not.toContain(keys.secretKey);
    expect(text).not.toMatch(/PRIVATE KEY|sk_test|whsec_/);
  });
});

describe('PATCH /v3/app', () => {
  it('changes only the passed settings', async () => {
    const { body } = await callWithSecretKey(changeApp, keys, { body: { strategy: 'last' } });
    expect(body).toEqual({ ok: true, strategy: 'last', unverifiedHours: 24 });
    await callWithSecretKey(changeApp, keys, { body: { unverifiedHours: 48 } });
    expect(await findApp(getService(), keys.appName)).toMatchObject({ strategy: 'last', unverifiedHours: 48 });
  });

  it('rejects hours above the maximum, and changes nothing', async () => {
    const body = { strategy: 'first', unverifiedHours: 1_000 };
    expect(await callWithSecretKey(changeApp, keys, { body })).toMatchObject({
      status: 400,
      body: { code: 'InvalidPayload' },
    });
    expect(await findApp(getService(), keys.appName)).toMatchObject({ strategy: 'last' });
  });

  it('sets the URL for alerts, returns it without its credential, and switches alerts off', async () => {
    const alertUrl = 'https://alerts.example.com/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX9';
    const shown = 'https://alerts.example.com/T000/B000/…';
    const { body } = await callWithSecretKey(changeApp, keys, { body: { alertUrl } });
    expect(body).toMatchObject({ ok: true, alertUrl: shown });
    const other = await service.createApp([]);
    await setAlertUrl(getService(), other.appName, alertUrl);
    expect((await callWithSecretKey(getApp, other)).body).toMatchObject({ alertUrl: shown });
    expect(await readEvents()).not.toContain('XXXXXXXX9');
    const rejected = await callWithSecretKey(changeApp, keys, { body: { alertUrl: 'https://169.254.169.254/' } });
    expect(rejected).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
    const off = await callWithSecretKey(changeApp, keys, { body: { alertUrl: '' } });
    expect(off.body).not.toHaveProperty('alertUrl');
  });
});

describe('/v3/app/keys', () => {
  it('creates a key that is returned once, lists it and revokes it', async () => {
    const created = (
      await callWithSecretKey(createKey, keys, { body: { level: 'viewer', name: 'support', validDays: 30 } })
    ).body;
    expect(created).toMatchObject({ ok: true, key: expect.stringMatching(/^view_/), name: 'support' });
    const { rows } = (await callWithSecretKey(listKeys, keys)).body;
    const { ok: _, key, ...listed } = created;
    expect(rows).toContainEqual(listed);
    expect(JSON.stringify(rows)).not.toContain(key);
    const { body } = await callWithSecretKey(revokeKey, keys, { params: { keyId: created.id } });
    expect(body).toEqual({ ok: true, revoked: listed });
    expect((await callWithSecretKey(listKeys, keys)).body.rows).not.toContainEqual(listed);
    expect(await readEvents()).not.toContain(key);
  });
});

describe('PUT /v3/app/webhooks', () => {
  it('returns a new signing secret once, and events do not contain it', async () => {
    const url = 'https://app.example/hooks/token-of-the-server-0123456789';
    const first = (await callWithSecretKey(setWebhook, keys, { body: { urls: [url] } })).body;
    expect(first).toEqual({ ok: true, signingSecret: expect.stringMatching(/^whsec_/) });
    expect((await callWithSecretKey(setWebhook, keys, { body: { urls: [url] } })).body).toEqual({ ok: true });
    expect(await readEvents()).not.toContain(first.signingSecret);
  });

  it('rotates the signing secret without a change of the settings', async () => {
    const settings = { urls: ['https://app.example/hooks'], events: ['refunds'] };
    const first = (await callWithSecretKey(setWebhook, keys, { body: settings })).body;
    const rotated = await callWithSecretKey(setWebhook, keys, { body: { rotateSecret: true, overlapHours: 48 } });
    expect(rotated.body).toEqual({ ok: true, signingSecret: expect.stringMatching(/^whsec_/) });
    expect(await findWebhookSender(getService(), keys.appName)).toMatchObject({
      app: { webhookSettings: settings },
      signingSecret: rotated.body.signingSecret,
      ...(first.signingSecret && { formerSecret: first.signingSecret }),
    });
    expect(await callWithSecretKey(setWebhook, keys, { body: { overlapHours: 48 } })).toMatchObject({ status: 400 });
    const leaked = (await callWithSecretKey(setWebhook, keys, { body: { ...settings, newSecret: true } })).body;
    expect(await findWebhookSender(getService(), keys.appName)).toMatchObject({ signingSecret: leaked.signingSecret });
    expect(await findWebhookSender(getService(), keys.appName)).not.toHaveProperty('formerSecret');
  });

  it.each([
    ['an address that is not public', { urls: ['http://169.254.169.254/latest'] }],
    ['an unknown kind of webhooks', { urls: ['https://app.example/hooks'], events: ['renewals'] }],
  ])('rejects %s', async (_case, body) => {
    expect(await callWithSecretKey(setWebhook, keys, { body })).toMatchObject({ status: 400 });
  });
});

describe('POST /v3/app/alerts/test', () => {
  it('sends a test alert, and reports a server that rejects it', async () => {
    const server = await startApplicationServer();
    const { appName, secretKey } = await service.createApp([]);
    const test = async () => await callWithSecretKey(testAlert, { appName, secretKey });
    expect(await test()).toMatchObject({ status: 400, body: { message: 'The app has no URL for alerts.' } });
    await setAlertUrl(getService(), appName, `${server.url}/alerts`);
    expect(await test()).toMatchObject({ status: 200, body: { ok: true } });
    expect(JSON.stringify(server.requests)).toContain('A test: alerts arrive here.');
    server.respondWith({ status: 410 });
    const message = 'The alert failed: the server responded with 410.';
    expect(await test()).toMatchObject({ status: 400, body: { code: 'InvalidPayload', message } });
    await server.close();
  });
});

describe('PUT /v3/stores/:platform', () => {
  it('rejects settings in a wrong format, and keeps the current ones', async () => {
    const before = await findStoreSettings(getService(), keys.appName, 'store_a');
    const body = { bundleId: 'com.example.app', keyId: 'K', privateKey: 'not-a-key-of-apple' };
    const response = await callWithSecretKey(setStore, keys, { params: { platform: 'apple' }, body });
    expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
    expect(await findStoreSettings(getService(), keys.appName, 'store_a')).toEqual(before);
  });

  it('saves settings that the store accepts, and events do not contain their secrets', async () => {
    const settings = (await findStoreSettings(getService(), keys.appName, 'store_a')) as Record<string, unknown>;
    const response = await callWithSecretKey(setStore, keys, { params: { platform: 'store_a' }, body: settings });
    expect(response).toMatchObject({ status: 200, body: { ok: true, check: expect.any(String) } });
    const secret = String(settings.privateKey).split('\n')[1] ?? '';
    expect(await readEvents()).not.toContain(secret);
    const { stores } = (await callWithSecretKey(getApp, keys)).body;
    expect(JSON.stringify(stores)).not.toContain(secret);
  });

  it('changes some settings, keeps absent ones, and removes those that are null', async () => {
    const stored = (await findStoreSettings(getService(), keys.appName, 'store_a')) as Record<string, unknown>;
    const body = { appAppleId: 1234567890, sharedSecret: null };
    const params = { platform: 'store_a' };
    const response = await callWithSecretKey(setStore, keys, { params, query: { merge: 'true' }, body });
    expect(response).toMatchObject({ status: 200, body: { ok: true } });
    const { sharedSecret: _removed, ...kept } = stored;
    const expected = { ...kept, appAppleId: 1234567890 };
    expect(await findStoreSettings(getService(), keys.appName, 'store_a')).toEqual(expected);
  });

  it('keeps both of two concurrent changes of different settings', async () => {
    const changes = [{ appAppleId: 1234567891 }, { sharedSecret: 'of-the-other-operator' }];
    const params = { platform: 'store_a' };
    const query = { merge: 'true' };
    const responses = await Promise.all(
      changes.map(async (body) => await callWithSecretKey(setStore, keys, { params, query, body })),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(await findStoreSettings(getService(), keys.appName, 'store_a')).toMatchObject({
      ...changes[0],
      ...changes[1],
    });
  });
});

describe('GET /v3/stores/:platform/settings', () => {
  const read = async (platform: string) => await callWithSecretKey(getStoreSettings, keys, { params: { platform } });

  it('returns the settings with their kinds, without secrets', async () => {
    const settings = (await findStoreSettings(getService(), keys.appName, 'store_a')) as Record<string, unknown>;
    const { body } = await read('apple');
    expect(body.platform).toBe('store_a');
    expect(body.fields).toContainEqual({
      name: 'bundleId',
      kind: 'text',
      isRequired: true,
      isSecret: false,
      isSet: true,
      value: settings.bundleId,
    });
    expect(body.fields).toContainEqual({
      name: 'privateKey',
      kind: 'text',
      isRequired: false,
      isSecret: true,
      isSet: true,
    });
  });

  it('lists the fields of a store without settings', async () => {
    const { body } = await read('processor_b');
    expect(body.fields).toContainEqual({
      name: 'environment',
      kind: 'choice',
      isRequired: true,
      isSecret: false,
      isSet: false,
      choices: ['production', 'sandbox'],
    });
  });

  it.each(platforms)('returns no key, secret or account of %s', async (platform) => {
    const { body } = await read(platform);
    const shown = body.fields.filter(({ isSecret }: { isSecret: boolean }) => !isSecret);
    const names = shown.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => /secret|private|license|^serviceAccount|password/i.test(name))).toEqual([]);
  });
});
