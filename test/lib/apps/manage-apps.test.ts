import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashApiKey } from '../../../lib/apps/api-keys.ts';
import type { AppRepository } from '../../../lib/apps/app-repository.ts';
import {
  createApiKey,
  createApp,
  deleteApp,
  getStoredApp,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  setReadEvents,
  setStrategy,
  setVocabulary,
} from '../../../lib/apps/manage-apps.ts';
import { createAppRepository } from '../../../lib/db/app-repository.ts';
import { createDeliveryRepository } from '../../../lib/db/delivery-repository.ts';
import { appKey } from '../../../lib/foundation/keys.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { setWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { createUniqueName, startDate, testCipher } from '../../../testing/given.ts';
import { connectLossyDatabase, type LossyDatabase } from '../../../testing/lossy-database.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let apps: AppRepository;
beforeAll(async () => {
  table = await createTestTable();
  apps = createAppRepository(table, testCipher);
});

const rounds = Array.from({ length: 10 }, (_, round) => round + 1);
const givenApp = async () => await createApp(apps, createUniqueName(), startDate);

const createKey = async (appName: string, name: string) =>
  await createApiKey(apps, appName, { level: 'viewer', name, now: startDate });

const configureWebhook = async (appName: string, url: string, usedApps = apps): Promise<string | undefined> => {
  const deps = { apps: usedApps, deliveries: createDeliveryRepository(table), emulator: { roots: [] } };
  const settings = { urls: [url], sandboxUrls: [], includesPassword: false };
  return await setWebhook(appName, settings, { newSecret: false, deps });
};

const listViewerKeys = async (appName: string): Promise<string[]> =>
  (await listApiKeys(apps, appName)).filter(({ level }) => level === 'viewer').map(({ name }) => name);

/** Writes the whole item as it was read, like `update` of the releases before this one. */
async function putLikeEarlierRelease(appName: string, changes: object): Promise<void> {
  const item = await table.get(appKey(appName));
  await table.transact([{ Put: { TableName: table.name, Item: { ...item, ...changes } } }]);
}

describe('setWebhook', () => {
  it('keeps the further webhooks that are switched on if the settings lack them, and replaces them otherwise', async () => {
    const { appName } = await givenApp();
    const settings = { urls: ['https://example.com/hook'], sandboxUrls: [], includesPassword: false };
    const deps = { apps, deliveries: createDeliveryRepository(table), emulator: { roots: [] } };
    const change = async (events: object) => {
      await setWebhook(appName, { ...settings, ...events }, { newSecret: false, deps });
      return (await apps.find(appName))?.webhookSettings?.events;
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
      rotateApiKey(apps, appName, { level: 'public', overlapMs: 0, now: startDate }),
      rotateApiKey(apps, appName, { level: 'secret', overlapMs: 0, now: startDate }),
      configureWebhook(appName, 'https://example.com/hook'),
      setStrategy(apps, appName, 'first'),
      setVocabulary(apps, appName, 'brand'),
      setReadEvents(apps, appName, false),
      apps.getOrCreateErasureKey(appName),
      ...['a', 'b', 'c'].map(async (name) => await createKey(appName, `new ${name}`)),
      ...revoked.map(async ({ id }) => await revokeApiKey(apps, appName, id)),
    ]);
    expect((await listViewerKeys(appName)).sort()).toEqual(['new a', 'new b', 'new c']);
    expect(await getStoredApp(apps, appName)).toMatchObject({
      strategy: 'first',
      vocabulary: 'brand',
      recordsReads: false,
      erasureKey,
      webhookSettings: { urls: ['https://example.com/hook'] },
      publicKeys: [{ digest: hashApiKey(publicKey) }, { expiresAt: startDate }],
      secretKeys: [{ digest: hashApiKey(secretKey) }, { expiresAt: startDate }],
    });
    expect(await apps.findWebhookSender(appName)).toMatchObject({ secretKey });
  });

  it.each(rounds)('do not restore a deleted app (round %i)', async () => {
    const { appName } = await givenApp();
    await Promise.allSettled([
      createKey(appName, 'support'),
      deleteApp(apps, appName, startDate),
      configureWebhook(appName, 'https://example.com/hook'),
      setStrategy(apps, appName, 'first'),
      rotateApiKey(apps, appName, { level: 'secret', overlapMs: 0, now: startDate }),
    ]);
    expect(await getStoredApp(apps, appName)).toMatchObject({ deletedAt: startDate });
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
    const sender = await apps.findWebhookSender(appName);
    expect(secrets.filter((secret) => secret !== undefined)).toEqual([sender?.signingSecret]);
  });

  it.each(rounds)('keep what an earlier release stores concurrently (round %i)', async () => {
    const { appName } = await givenApp();
    const old = await createKey(appName, 'old');
    const [other] = (await getStoredApp(apps, (await givenApp()).appName)).publicKeys;
    // The earlier release writes between the read and the write of this release.
    let reads = 0;
    const interrupted = createAppRepository(
      {
        ...table,
        get: async (key) => {
          const item = await table.get(key);
          if (reads++ === 0)
            await putLikeEarlierRelease(appName, { viewerKeys: [{ ...other, name: 'earlier' }], strategy: 'last' });
          return item;
        },
      },
      testCipher,
    );
    await createApiKey(interrupted, appName, { level: 'viewer', name: 'new', now: startDate });
    expect(await listViewerKeys(appName)).toEqual(['earlier', 'new']);
    expect(await getStoredApp(apps, appName)).toMatchObject({ strategy: 'last' });
    expect(await listApiKeys(apps, appName)).not.toContainEqual(expect.objectContaining({ id: old.id }));
  });
});

describe('a change of an app', () => {
  it('keeps attributes of a newer release', async () => {
    const { appName } = await givenApp();
    await putLikeEarlierRelease(appName, { memberOfNewerRelease: { since: 1 } });
    await createKey(appName, 'support');
    expect(await table.get(appKey(appName))).toMatchObject({ memberOfNewerRelease: { since: 1 } });
  });

  it('fails immediately for an unknown app and for a deleted app', async () => {
    const unknown = { code: 'AppNotFound', message: 'The app unknown-app is not found.' };
    await expect(setStrategy(apps, 'unknown-app', 'first')).rejects.toMatchObject(unknown);
    const { appName } = await givenApp();
    await deleteApp(apps, appName, startDate);
    const deleted = { code: 'AppNotFound', message: `The app ${appName} is deleted.` };
    await expect(createKey(appName, 'support')).rejects.toMatchObject(deleted);
    await expect(deleteApp(apps, appName, startDate)).rejects.toMatchObject(deleted);
  });
});

describe('a change of an app whose response is lost', () => {
  let database: LossyDatabase;
  let lossyApps: AppRepository;
  beforeAll(async () => {
    database = await connectLossyDatabase(table);
    lossyApps = createAppRepository(database.table, testCipher);
  });
  afterAll(async () => await database.close());

  it('keeps the earlier key for the overlap of a rotation', async () => {
    const { appName, publicKey } = await givenApp();
    database.loseNextResponse();
    const rotation = { level: 'public', overlapMs: 1000, now: startDate } as const;
    const newKey = await rotateApiKey(lossyApps, appName, rotation);
    expect((await getStoredApp(apps, appName)).publicKeys).toEqual([
      { digest: hashApiKey(newKey), createdAt: startDate },
      { digest: hashApiKey(publicKey), createdAt: startDate, expiresAt: startDate + 1000 },
    ]);
  });

  it('returns the created key', async () => {
    const { appName } = await givenApp();
    database.loseNextResponse();
    const { key } = await createApiKey(lossyApps, appName, { level: 'viewer', name: 'support', now: startDate });
    expect((await getStoredApp(apps, appName)).viewerKeys).toMatchObject([{ digest: hashApiKey(key) }]);
  });

  it('returns the signing secret of the first webhook settings', async () => {
    const { appName } = await givenApp();
    database.loseNextResponse();
    const secret = await configureWebhook(appName, 'https://example.com/hook', lossyApps);
    expect(secret).toBeDefined();
    expect(await apps.findWebhookSender(appName)).toMatchObject({ signingSecret: secret });
  });

  it('returns the deleted app', async () => {
    const { appName } = await givenApp();
    database.loseNextResponse();
    expect(await deleteApp(lossyApps, appName, startDate)).toMatchObject({ name: appName, deletedAt: startDate });
  });
});
