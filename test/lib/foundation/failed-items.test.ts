import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { createFolderTarget } from '../../../cli/export/folder-target.ts';
import { createApp, getApp } from '../../../lib/apps/manage-apps.ts';
import { reencryptSecrets } from '../../../lib/apps/reencrypt-secrets.ts';
import { createAccount } from '../../../lib/credits/credit-account.ts';
import { saveCredits } from '../../../lib/credits/credit-table.ts';
import { exportApp } from '../../../lib/export/export-app.ts';
import { createCipher } from '../../../lib/foundation/cipher.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { attemptItems } from '../../../lib/foundation/failed-items.ts';
import { appKey, creditAccountKey, customerKey, purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Item } from '../../../lib/foundation/table.ts';
import { rebuildPurchaseLinks } from '../../../lib/purchases/rebuild-purchase-links.ts';
import { reencryptRefreshTokens } from '../../../lib/purchases/reencrypt-refresh-tokens.ts';
import { rebuildCustomerSummaries } from '../../../lib/statistics/rebuild-customer-summaries.ts';
import { restateFigures } from '../../../lib/statistics/restate-figures.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

const customers = ['ann', 'bob', 'cid'];
const toPurchaseId = (username: string) => `store_a:of-${username}`;
const annsPurchase = { item: toPurchaseId('ann'), problem: 'purchase: expected an object.' };
const ann = { ...annsPurchase, item: 'ann' };

/** Creates an app with a purchase of each customer. The first one is damaged. */
async function givenDamagedPurchase() {
  const service = createService(table, { cipher: createCipher(async () => 'one', Date.now) });
  const { appName } = await createApp(service, createUniqueName(), startDate);
  for (const username of customers) {
    const purchaseId = toPurchaseId(username);
    const observation = createObservation({ purchaseId, transactionId: purchaseId });
    const refreshToken = { token: username };
    await recordObservation(service, appName, { username, observation: { ...observation, refreshToken } });
  }
  await damage(purchaseKey(appName, toPurchaseId('ann')), { purchase: 7 });
  return { service, app: await getApp(service, appName) };
}

async function damage(key: { pk: string; sk: string }, fields: Item): Promise<void> {
  await table.batchPut([{ ...(await table.get(key)), ...fields }]);
}

describe('attemptItems', () => {
  it('throws a temporary failure of the database', async () => {
    const { attempt, failed } = attemptItems({});
    const fail = async () => await Promise.reject(new ServiceError('DatabaseError', 'The database is unavailable.'));
    await expect(attempt('ann', fail)).rejects.toMatchObject({ code: 'DatabaseError' });
    expect(failed).toEqual([]);
  });
});

describe('a run over all items with a damaged one', () => {
  it('rebuilds the links of the other purchases', async () => {
    const { service, app } = await givenDamagedPurchase();
    expect(await rebuildPurchaseLinks(service, app.name)).toMatchObject({
      checkedPurchases: 2,
      failed: [annsPurchase, ann],
    });
  });

  it('rebuilds the summaries of the other customers', async () => {
    const { service, app } = await givenDamagedPurchase();
    await damage(customerKey(app.name, 'bob'), { summaryVersion: 'x' });
    const { checked, failed } = await rebuildCustomerSummaries(service, app.name);
    expect({ checked, failed: failed.map(({ item }) => item).sort() }).toEqual({ checked: 1, failed: ['ann', 'bob'] });
  });

  it('restates the figures of the other purchases', async () => {
    const { service, app } = await givenDamagedPurchase();
    expect(await restateFigures(service, app, { correct: true })).toEqual({ found: 0, failed: [annsPurchase] });
  });

  it('encrypts the other values under the current key', async () => {
    const { service, app } = await givenDamagedPurchase();
    const rotated = { ...service, cipher: createCipher(async () => 'two one', Date.now) };
    await damage(purchaseKey(app.name, toPurchaseId('bob')), { refreshToken: 'damaged' });
    await damage(appKey(app.name), { signingSecret: 'damaged' });
    const undecryptable = (item: string) => ({ item, problem: 'A stored secret cannot be decrypted.' });
    expect(await reencryptRefreshTokens(rotated, app.name)).toEqual({
      reencrypted: 1,
      failed: expect.arrayContaining([annsPurchase, undecryptable(toPurchaseId('bob'))]),
    });
    expect(await reencryptSecrets(rotated, app.name)).toMatchObject({
      failed: [undecryptable(`signingSecret of APP#${app.name} APP`)],
    });
  });

  it('exports the other rows', async () => {
    const { service, app } = await givenDamagedPurchase();
    await damage(customerKey(app.name, 'bob'), { createdAt: 'x' });
    for (const username of customers) {
      const coins = { granted: 5, spent: 0, takenBack: 0, expired: 0, debt: 0, lots: [] };
      const account = { ...createAccount(username, false), credits: { coins } };
      await saveCredits(service, app.name, { accounts: [account], entries: [] });
    }
    await damage(creditAccountKey(app.name, 'ann', 'P'), { version: 'x' });
    const folder = mkdtempSync(join(tmpdir(), 'claimcheck-export-'));
    const { failed } = await exportApp(service, app, await createFolderTarget(folder), { kind: 'full' });
    const read = (name: string) =>
      gunzipSync(readFileSync(join(folder, `dt=2026-01-01/${name}.jsonl.gz`)))
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(read('purchases').map(({ purchaseId }) => purchaseId)).toEqual(['bob', 'cid'].map(toPurchaseId));
    expect(read('customers').map(({ applicationUsername }) => applicationUsername)).toEqual(['ann', 'cid']);
    expect(read('credits').map(({ applicationUsername }) => applicationUsername)).toEqual(['bob', 'cid']);
    expect(failed.map(({ item }) => item)).toEqual([annsPurchase.item, 'bob', 'credits of ann']);
    await rm(folder, { recursive: true });
  });
});
