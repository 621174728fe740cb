import { describe, expect, it } from '@jest/globals';
import { findWebhookSender, storeWebhook } from '../../../lib/apps/app-table.ts';
import { createApp } from '../../../lib/apps/manage-apps.ts';
import { reencryptSecrets } from '../../../lib/apps/reencrypt-secrets.ts';
import { findStoreSettings, setStoreSettings } from '../../../lib/apps/store-settings-table.ts';
import { createCipher } from '../../../lib/foundation/cipher.ts';
import { purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { findRefreshState } from '../../../lib/purchases/purchase-table.ts';
import { reencryptRefreshTokens } from '../../../lib/purchases/reencrypt-refresh-tokens.ts';
import { listCountsChanges } from '../../../lib/statistics/counts-change.ts';
import { findAffectedCustomers } from '../../../lib/statistics/rebuild-customer-summary.ts';
import { readStreamRecord } from '../../../lib/webhooks/purchase-announcements.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

const id = 'store_a:1';

/** Creates the service record of a container with the master secret. */
const createContainer = (secret: string, usedTable = table): Service =>
  createService(usedTable, { cipher: createCipher(async () => secret, Date.now) });

const recordToken = async (container: Service, appName: string, token: string, now = startDate) =>
  await recordObservation(container, appName, {
    username: 'ann',
    observation: { ...createObservation({}, { asOf: now }), refreshToken: { token } },
    now,
  });

/** Creates an app with one secret of each kind. */
async function createSecrets(container: Service) {
  const keys = await createApp(container, createUniqueName(), startDate);
  await storeWebhook(container, keys.appName, {
    settings: { urls: [], sandboxUrls: [], includesPassword: true },
    createSecret: () => 'whsec_c2VjcmV0',
  });
  await storeWebhook(container, keys.appName, { createSecret: () => 'whsec_bmV3', overlapMs: dayMs });
  await setStoreSettings(container, keys.appName, 'store_a', { sharedSecret: 'shared' });
  await recordToken(container, keys.appName, 'T');
  return keys;
}

const getPurchaseItem = async (appName: string): Promise<Item> => (await table.get(purchaseKey(appName, id))) ?? {};

describe('reencryptSecrets and reencryptRefreshTokens', () => {
  it('encrypt every secret under the current key, so that the old keys can be removed', async () => {
    const { appName, secretKey } = await createSecrets(createContainer('one'));
    const rotated = createContainer('two one');
    expect(await reencryptSecrets(rotated, appName)).toEqual({ reencrypted: 4, failed: [] });
    expect(await reencryptRefreshTokens(rotated, appName)).toEqual({ reencrypted: 1, failed: [] });
    const later = createContainer('two');
    expect(await findWebhookSender(later, appName)).toMatchObject({
      secretKey,
      signingSecret: 'whsec_bmV3',
      formerSecret: 'whsec_c2VjcmV0',
    });
    expect(await findStoreSettings(later, appName, 'store_a')).toEqual({ sharedSecret: 'shared' });
    expect(await findRefreshState(later, appName, id)).toMatchObject({ refreshToken: { token: 'T' } });
    const repeated = [await reencryptSecrets(rotated, appName), await reencryptRefreshTokens(rotated, appName)];
    expect(repeated.map(({ reencrypted }) => reencrypted)).toEqual([0, 0]);
  });

  it('change nothing that a stream worker processes', async () => {
    const { appName } = await createSecrets(createContainer('one'));
    const before = await getPurchaseItem(appName);
    await reencryptRefreshTokens(createContainer('two one'), appName);
    const after = await getPurchaseItem(appName);
    expect({ ...after, refreshToken: before.refreshToken }).toEqual(before);
    expect(after.refreshToken).not.toBe(before.refreshToken);
    const record = buildStreamRecord({ before, after }, 1);
    expect([readStreamRecord(record), listCountsChanges(record), findAffectedCustomers([record])]).toEqual([
      undefined,
      [],
      [],
    ]);
  });

  it('keep a value that a concurrent writer saves, and encrypt it in the next run', async () => {
    const { appName } = await createSecrets(createContainer('one'));
    const racedTable = {
      ...table,
      async update(update: Parameters<Table['update']>[0]) {
        await recordToken(createContainer('one'), appName, 'newer', startDate + dayMs);
        await table.update(update);
      },
    };
    const rotated = createContainer('two one', racedTable);
    expect(await reencryptRefreshTokens(rotated, appName)).toEqual({ reencrypted: 1, failed: [] });
    expect(await findRefreshState(createContainer('one'), appName, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
    expect(await reencryptRefreshTokens(createContainer('two one'), appName)).toMatchObject({ reencrypted: 1 });
    expect(await findRefreshState(createContainer('two'), appName, id)).toMatchObject({
      refreshToken: { token: 'newer' },
    });
  });
});
