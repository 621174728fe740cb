import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashApiKey, type WebhookSettings } from '../../../lib/apps/app.ts';
import { findApp, findWebhookSender, getOrCreateErasureKey } from '../../../lib/apps/app-table.ts';
import {
  changeSettings,
  createApiKey,
  createApp,
  deleteApp,
  getStoredApp,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../../../lib/apps/manage-apps.ts';
import { appKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { ensureSigningSecret, saveWebhook, sendTestWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { connectLossyDatabase } from '../../../testing/lossy-database.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let service: Service;
beforeAll(async () => {
  service = createService(table);
});

const rounds = Array.from({ length: 4 }, (_, round) => round + 1);
const givenApp = async () => await createApp(service, createUniqueName(), startDate);

describe('createApiKey', () => {
  it('accepts a key that the app has at another deployment', async () => {
    const [{ publicKey }, { appName }] = [await givenApp(), await givenApp()];
    const request = { level: 'public', name: 'released', now: startDate, key: publicKey } as const;
    expect(await createApiKey(service, appName, request)).toMatchObject({ key: publicKey, name: 'released' });
    const { publicKeys } = await getStoredApp(service, appName);
    expect(publicKeys.map(({ digest }) => digest)).toContain(hashApiKey(publicKey));
  });

  it.each(['', 'pub_short'])('rejects %j, and a key with a different level', async (key) => {
    const { appName, secretKey } = await givenApp();
    for (const existing of [key, secretKey]) {
      const request = { level: 'public', name: 'released', now: startDate, key: existing } as const;
      await expect(createApiKey(service, appName, request)).rejects.toMatchObject({ code: 'InvalidPayload' });
    }
  });
});

const createKey = async (appName: string, name: string) =>
  await createApiKey(service, appName, { level: 'viewer', name, now: startDate });

const configureWebhook = async (appName: string, url: string, used = service): Promise<string | undefined> => {
  const settings = { urls: [url], sandboxUrls: [], includesPassword: false };
  return await saveWebhook(used, appName, settings, { newSecret: false });
};

const listViewerKeys = async (appName: string): Promise<string[]> =>
  (await listApiKeys(service, appName)).filter(({ level }) => level === 'viewer').map(({ name }) => name);

/** Writes the whole item as it was read, like `update` of the releases before this one. */
async function putLikeEarlierRelease(appName: string, changes: object): Promise<void> {
  const item = await table.get(appKey(appName));
  await table.transact([{ Put: { TableName: table.name, Item: { ...item, ...changes } } }]);
}

describe('setWebhook', () => {
  it('keeps the other webhooks that are switched on if the settings lack them, and replaces them otherwise', async () => {
    const { appName } = await givenApp();
    const settings = { urls: ['https://example.com/hook'], sandboxUrls: [], includesPassword: false };
    const change = async (events: object) => {
      await saveWebhook(service, appName, { ...settings, ...events }, { newSecret: false });
      return (await findApp(service, appName))?.webhookSettings?.events;
    };
    expect(await change({})).toBeUndefined();
    expect(await change({ events: ['refunds'] })).toEqual(['refunds']);
    expect(await change({})).toEqual(['refunds']);
    expect(await change({ events: [] })).toEqual([]);
  });
});

describe('concurrent changes of an app', () => {
  it.each(rounds)('stores all changes, and restores no revoked key (round %i)', async () => {
    const { appName } = await givenApp();
    const revoked = await Promise.all(['a', 'b', 'c'].map(async (name) => await createKey(appName, `old ${name}`)));
    const [publicKey, secretKey, , , , , erasureKey] = await Promise.all([
      rotateApiKey(service, appName, { level: 'public', overlapMs: 0, now: startDate }),
      rotateApiKey(service, appName, { level: 'secret', overlapMs: 0, now: startDate }),
      configureWebhook(appName, 'https://example.com/hook'),
      changeSettings(service, appName, { strategy: 'first' }),
      changeSettings(service, appName, { vocabulary: 'brand' }),
      changeSettings(service, appName, { recordsReads: false }),
      getOrCreateErasureKey(service, appName),
      ...['a', 'b', 'c'].map(async (name) => await createKey(appName, `new ${name}`)),
      ...revoked.map(async ({ id }) => await revokeApiKey(service, appName, id)),
    ]);
    expect((await listViewerKeys(appName)).sort()).toEqual(['new a', 'new b', 'new c']);
    expect(await getStoredApp(service, appName)).toMatchObject({
      strategy: 'first',
      vocabulary: 'brand',
      recordsReads: false,
      erasureKey,
      webhookSettings: { urls: ['https://example.com/hook'] },
      publicKeys: [{ digest: hashApiKey(publicKey) }, { expiresAt: startDate }],
      secretKeys: [{ digest: hashApiKey(secretKey) }, { expiresAt: startDate }],
    });
    expect(await findWebhookSender(service, appName)).toMatchObject({ secretKey });
  });

  it.each(rounds)('do not restore a deleted app (round %i)', async () => {
    const { appName } = await givenApp();
    await Promise.allSettled([
      createKey(appName, 'support'),
      deleteApp(service, appName, startDate),
      configureWebhook(appName, 'https://example.com/hook'),
      changeSettings(service, appName, { strategy: 'first' }),
      rotateApiKey(service, appName, { level: 'secret', overlapMs: 0, now: startDate }),
    ]);
    expect(await getStoredApp(service, appName)).toMatchObject({ deletedAt: startDate });
  });

  it.each(rounds)('create at most 20 keys of a level, and one key of a name (round %i)', async () => {
    const { appName } = await givenApp();
    for (let number = 1; number <= 17; number++) await createKey(appName, `support ${number}`);
    const names = ['same', 'same', 'x', 'y', 'z'];
    const results = await Promise.allSettled(names.map(async (name) => await createKey(appName, name)));
    const keys = await listViewerKeys(appName);
    expect([keys.length, new Set(keys).size]).toEqual([20, 20]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  it.each(rounds)('return the one signing secret of the first webhook settings (round %i)', async () => {
    const { appName } = await givenApp();
    const urls = ['https://example.com/1', 'https://example.com/2', 'https://example.com/3'];
    const secrets = await Promise.all(urls.map(async (url) => await configureWebhook(appName, url)));
    const sender = await findWebhookSender(service, appName);
    expect(secrets.filter((secret) => secret !== undefined)).toEqual([sender?.signingSecret]);
  });

  it('keep webhook URLs that are set while a signing secret is created', async () => {
    const { appName } = await givenApp();
    let reads = 0;
    const interrupted = createService({
      ...table,
      get: async (key) => {
        const item = await table.get(key);
        if (reads++ === 0) await configureWebhook(appName, 'https://example.com/hook');
        return item;
      },
    });
    await ensureSigningSecret(interrupted, appName);
    const { webhookSettings } = await getStoredApp(service, appName);
    expect(webhookSettings?.urls).toEqual(['https://example.com/hook']);
  });

  it.each<[name: string, settings: Partial<WebhookSettings>, newSecret: boolean]>([
    ['an event', { events: ['refunds'] }, false],
    ['a new signing secret', {}, true],
  ])('keep webhook URLs that are set while %s is set without URLs', async (_name, settings, newSecret) => {
    const { appName } = await givenApp();
    await configureWebhook(appName, 'https://example.com/first');
    let reads = 0;
    const interrupted = createService({
      ...table,
      get: async (key) => {
        const item = await table.get(key);
        if (reads++ === 0) await configureWebhook(appName, 'https://example.com/second');
        return item;
      },
    });
    await saveWebhook(interrupted, appName, settings, { newSecret });
    const { webhookSettings } = await getStoredApp(service, appName);
    expect(webhookSettings).toMatchObject({ urls: ['https://example.com/second'], ...settings });
  });

  it.each(rounds)('keep what an earlier release stores concurrently (round %i)', async () => {
    const { appName } = await givenApp();
    const old = await createKey(appName, 'old');
    const [other] = (await getStoredApp(service, (await givenApp()).appName)).publicKeys;
    // The earlier release writes between the read and the write of this release.
    let reads = 0;
    const interrupted = createService({
      ...table,
      get: async (key) => {
        const item = await table.get(key);
        if (reads++ === 0)
          await putLikeEarlierRelease(appName, { viewerKeys: [{ ...other, name: 'earlier' }], strategy: 'last' });
        return item;
      },
    });
    await createApiKey(interrupted, appName, { level: 'viewer', name: 'new', now: startDate });
    expect(await listViewerKeys(appName)).toEqual(['earlier', 'new']);
    expect(await getStoredApp(service, appName)).toMatchObject({ strategy: 'last' });
    expect(await listApiKeys(service, appName)).not.toContainEqual(expect.objectContaining({ id: old.id }));
  });
});

describe('a change of an app', () => {
  it('keeps attributes of a newer release', async () => {
    const { appName } = await givenApp();
    await putLikeEarlierRelease(appName, { memberOfNewerRelease: { since: 1 } });
    await createKey(appName, 'support');
    expect(await table.get(appKey(appName))).toMatchObject({ memberOfNewerRelease: { since: 1 } });
  });

  it('fails immediately for an unknown app and for a deleted app, whose name is not free', async () => {
    const unknown = { code: 'AppNotFound', message: 'The app unknown-app is not found.' };
    await expect(changeSettings(service, 'unknown-app', { strategy: 'first' })).rejects.toMatchObject(unknown);
    const { appName } = await givenApp();
    await deleteApp(service, appName, startDate);
    const deleted = { code: 'AppNotFound', message: `The app ${appName} is deleted.` };
    await expect(createKey(appName, 'support')).rejects.toMatchObject(deleted);
    await expect(deleteApp(service, appName, startDate)).rejects.toMatchObject(deleted);
    await expect(sendTestWebhook(service, appName)).rejects.toMatchObject(deleted);
    await expect(createApp(service, appName, startDate)).rejects.toMatchObject({ code: 'Conflict' });
  });
});

describe('a change of an app whose response is lost', () => {
  const database = startBeforeAll(async () => await connectLossyDatabase(table));
  let lossy: Service;
  beforeAll(async () => {
    lossy = createService(database.table);
  });

  it('keeps the earlier key for the overlap of a rotation', async () => {
    const { appName, publicKey } = await givenApp();
    database.loseNextResponse();
    const rotation = { level: 'public', overlapMs: 1000, now: startDate } as const;
    const newKey = await rotateApiKey(lossy, appName, rotation);
    expect((await getStoredApp(service, appName)).publicKeys).toEqual([
      { digest: hashApiKey(newKey), createdAt: startDate },
      { digest: hashApiKey(publicKey), createdAt: startDate, expiresAt: startDate + 1000 },
    ]);
  });

  it('returns the created key', async () => {
    const { appName } = await givenApp();
    database.loseNextResponse();
    const { key } = await createApiKey(lossy, appName, { level: 'viewer', name: 'support', now: startDate });
    expect((await getStoredApp(service, appName)).viewerKeys).toMatchObject([{ digest: hashApiKey(key) }]);
  });

  it('returns the signing secret of the first webhook settings', async () => {
    const { appName } = await givenApp();
    database.loseNextResponse();
    const secret = await configureWebhook(appName, 'https://example.com/hook', lossy);
    expect(secret).toBeDefined();
    expect(await findWebhookSender(service, appName)).toMatchObject({ signingSecret: secret });
  });

  it('returns the deleted app', async () => {
    const { appName } = await givenApp();
    database.loseNextResponse();
    expect(await deleteApp(lossy, appName, startDate)).toMatchObject({ name: appName, deletedAt: startDate });
  });
});
