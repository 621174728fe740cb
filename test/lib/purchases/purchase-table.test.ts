import { beforeAll, describe, expect, it } from '@jest/globals';
import { claimKey, purchaseKey } from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { listRepresentativePurchases } from '../../../lib/purchases/owned-purchase-table.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/prepare-update.ts';
import {
  findPurchase,
  findPurchaseFacts,
  findPurchaseForChange,
  listAnnouncements,
  listTransactionsOfPurchases,
} from '../../../lib/purchases/purchase-table.ts';
import { rebuildPurchaseLinks } from '../../../lib/purchases/rebuild-purchase-links.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { findTransaction } from '../../../lib/purchases/transaction-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { buildLinkInput, buildValidationInput, recordObservation } from '../../../testing/purchase-inputs.ts';
import { checkSample } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
let service: Service;
beforeAll(async () => {
  service = createService(table);
});

const id = 'store_a:1';
const createRenewal = (number: number) => {
  const at = startDate + number * 31 * dayMs;
  const { purchase } = createObservation({
    transactionId: `store_a:${number}`,
    lastRenewalDate: at,
    expirationDate: at + 31 * dayMs,
  });
  return { asOf: at, purchase, transactions: [createTransaction(purchase)], userAliases: [] };
};

/** Writes claims. The next change entitles their users. */
async function saveClaims(appName: string, usernames: readonly string[]): Promise<void> {
  const claims = usernames.map((username, index) => {
    const at = startDate + 1 + index;
    return {
      ...claimKey(appName, id, username),
      username,
      source: 'validation',
      firstClaimedAt: at,
      lastClaimedAt: at,
    };
  });
  await table.batchPut(claims);
}

describe('recordPurchase', () => {
  it('saves a purchase that can be read by id and by user immediately', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    expect(await findPurchase(service, appName, id)).toMatchObject({
      purchase: { productId: 'store_a:monthly' },
      entitledUsers: ['ann'],
    });
    expect(await listRepresentativePurchases(service, appName, 'ann')).toMatchObject([
      { purchaseId: id, amountMicros: 4_990_000 },
    ]);
    expect(await listAnnouncements(service, appName, id)).toMatchObject([{ reason: 'PURCHASED' }]);
  });

  it('replaces the transactions that are found to be one sale', async () => {
    const appName = createUniqueName();
    const { purchase } = createObservation();
    const record = async (...sales: Parameters<typeof createTransaction>[1][]) => {
      const transactions = sales.map((changes) => createTransaction(purchase, changes));
      await recordObservation(service, appName, {
        username: 'ann',
        observation: createObservation({}, { transactions }),
      });
    };
    await record({ transactionId: 'store_a:11' }, { transactionId: 'store_a:12' });
    await record({ transactionId: 'store_a:10', saleId: id });
    expect(await listTransactionsOfPurchases(service, appName, [id])).toMatchObject([{ transactionId: 'store_a:10' }]);
    expect(await findTransaction(service, appName, 'store_a:12')).toBeUndefined();
  });

  it('moves the refresh of a purchase that is validated again only in the second half of its interval', async () => {
    const appName = createUniqueName();
    const given = createObservation({ expirationDate: startDate + 31 * dayMs });
    const validateAfter = async (days: number): Promise<number | undefined> => {
      const now = startDate + days * dayMs;
      const observation = { ...given, asOf: now, refreshToken: { token: '1' } };
      await recordObservation(service, appName, { username: 'ann', observation, now });
      return (await findPurchaseFacts(service, appName, id))?.nextRefreshAt;
    };
    expect(await validateAfter(0)).toBe(startDate + 3 * dayMs);
    expect(await validateAfter(1)).toBe(startDate + 3 * dayMs);
    expect(await validateAfter(2)).toBe(startDate + 5 * dayMs);
  });

  it('increases the update date with every change, even if the clock of a writer is behind', async () => {
    const appName = createUniqueName();
    const results = await Promise.all(
      [createRenewal(1), createRenewal(2), createRenewal(3)].map((observation) =>
        recordPurchase(service, appName, id, buildValidationInput('ann', observation)),
      ),
    );
    const dates = results.map((result) => result?.change?.after.updatedAt ?? 0);
    expect(new Set(dates).size).toBe(3);
    const late = { ...buildValidationInput('ann', createRenewal(4)), now: startDate - dayMs };
    expect((await recordPurchase(service, appName, id, late))?.change?.after.updatedAt).toBeGreaterThan(
      Math.max(...dates),
    );
  });

  it('loses no update of concurrent writers', async () => {
    const appName = createUniqueName();
    const users = ['ann', 'bob', 'cy', 'dee'];
    const races = users.flatMap((username, index) => [
      recordPurchase(service, appName, id, buildValidationInput(username)),
      recordPurchase(service, appName, id, buildValidationInput(undefined, createRenewal(index + 1))),
    ]);
    await Promise.all(races);
    const stored = await findPurchase(service, appName, id);
    expect([...(stored?.entitledUsers ?? [])].sort()).toEqual(users);
    expect(stored?.purchase.transactionId).toBe('store_a:4');
    const ids = (await listTransactionsOfPurchases(service, appName, [id])).map(({ transactionId }) => transactionId);
    expect(ids.sort()).toEqual(['store_a:1', 'store_a:2', 'store_a:3', 'store_a:4']);
    for (const username of users) expect(await listRepresentativePurchases(service, appName, username)).toHaveLength(1);
  });

  it('writes nothing if the same receipt is validated again', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    const before = table.consumed.write;
    const repeated = await recordPurchase(service, appName, id, buildValidationInput('ann'));
    expect(repeated?.change).toBeUndefined();
    expect(table.consumed.write).toBe(before);
  });

  it('writes only the check of an unchanged purchase, once a minute', async () => {
    const appName = createUniqueName();
    const observation = createRenewal(1);
    const validate = async (elapsedMs: number) => {
      const input = buildValidationInput('ann', { ...observation, asOf: observation.asOf + elapsedMs });
      const before = table.consumed.write;
      const result = await recordPurchase(service, appName, id, { ...input, now: input.now + elapsedMs });
      return { units: table.consumed.write - before, result };
    };
    await validate(0);
    const stored = await findPurchaseForChange(service, appName, id);
    const notifications = await listAnnouncements(service, appName, id);
    expect((await validate(30_000)).units).toBe(0);
    const { units, result } = await validate(61_000);
    // The item, and its move in the index of due purchases.
    expect(units).toBeLessThanOrEqual(3);
    expect(result?.stored).toMatchObject({ updatedAt: stored?.updatedAt, version: 2, entitledUsers: ['ann'] });
    const { updatedAt, checkedAt, version, state, ...rest } = (await findPurchaseForChange(service, appName, id)) ?? {};
    expect(updatedAt).toBe(stored?.updatedAt);
    expect(version).toBe(2);
    expect(checkedAt).toBe((stored?.checkedAt ?? 0) + 61_000);
    expect(state).toEqual({ ...stored?.state, asOf: observation.asOf + 61_000 });
    expect(rest).toMatchObject({ claims: stored?.claims, entitledUsers: ['ann'] });
    expect(await listAnnouncements(service, appName, id)).toEqual(notifications);
  });

  it('entitles only the user of a manual link, even after a later validation', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    const link = await recordPurchase(service, appName, id, buildLinkInput('bob'));
    expect(link?.change).toMatchObject({ gainedUsers: ['bob'], lostUsers: ['ann'] });
    await recordPurchase(service, appName, id, buildValidationInput('ann', createRenewal(2)));
    expect(await listRepresentativePurchases(service, appName, 'ann')).toEqual([]);
    expect(await listRepresentativePurchases(service, appName, 'bob')).toHaveLength(1);
  });

  it('copies the claims of a replaced purchase', async () => {
    const appName = createUniqueName();
    await recordPurchase(service, appName, id, buildValidationInput('ann'));
    const { purchase } = createObservation({ purchaseId: 'store_a:2', transactionId: 'store_a:2' });
    const replacement = createObservation(purchase, { replacedPurchaseId: id });
    await recordPurchase(service, appName, 'store_a:2', buildValidationInput(undefined, replacement));
    expect(await findPurchase(service, appName, 'store_a:2')).toMatchObject({ entitledUsers: ['ann'] });
    expect(await listRepresentativePurchases(service, appName, 'ann')).toHaveLength(2);
  });

  it('stores the refresh token encrypted', async () => {
    const appName = createUniqueName();
    const observation = { ...createObservation(), refreshToken: { token: 'secret-token' } };
    await recordObservation(service, appName, { username: 'ann', observation });
    const items = await table.query({ partition: purchaseKey.partition(appName, id) });
    expect(JSON.stringify(items)).toContain('refreshToken');
    expect(JSON.stringify(items)).not.toContain('secret-token');
  });

  it('creates no purchase for a link to an unknown id', async () => {
    const appName = createUniqueName();
    expect(await recordPurchase(service, appName, id, buildLinkInput('bob'))).toBeUndefined();
    expect(await findPurchase(service, appName, id)).toBeUndefined();
  });

  it('saves a history that exceeds one DynamoDB transaction', async () => {
    const appName = createUniqueName();
    const renewals = Array.from({ length: 187 }, (_, index) => createRenewal(index + 1));
    const last = renewals.at(-1);
    if (!last) throw new Error('no renewals');
    const transactions = renewals.flatMap((renewal) => renewal.transactions);
    await recordObservation(service, appName, { username: 'ann', observation: { ...last, transactions } });
    expect(await listTransactionsOfPurchases(service, appName, [id])).toHaveLength(187);
    expect((await findPurchase(service, appName, id))?.purchase.transactionId).toBe('store_a:187');
  });

  it('limits the entitled users to 150,000 bytes and copies them to a replacing purchase', async () => {
    const appName = createUniqueName();
    const users = Array.from({ length: 201 }, (_, index) => `user-${index + 100}`.padEnd(750, '-of-the-family'));
    for (const user of users.slice(0, 3)) await recordPurchase(service, appName, id, buildValidationInput(user));
    await saveClaims(appName, users.slice(3, 200));
    await recordPurchase(service, appName, id, buildValidationInput(users[3]));
    await recordPurchase(service, appName, id, buildValidationInput(users[200]));
    expect((await findPurchase(service, appName, id))?.entitledUsers).toHaveLength(200);
    expect(await listRepresentativePurchases(service, appName, users[200] ?? '')).toEqual([]);
    const next = {
      ...createObservation({ purchaseId: 'store_a:2', transactionId: 'store_a:2' }),
      replacedPurchaseId: id,
    };
    await recordObservation(service, appName, { trigger: 'refresh', observation: next });
    expect((await findPurchase(service, appName, 'store_a:2'))?.entitledUsers).toHaveLength(200);
    for (const user of [users[0], users[199]]) {
      expect(
        (await listRepresentativePurchases(service, appName, user ?? '')).map(({ purchaseId }) => purchaseId),
      ).toContain('store_a:2');
    }
    await recordPurchase(service, appName, 'store_a:2', buildLinkInput('ann'));
    expect((await findPurchase(service, appName, 'store_a:2'))?.entitledUsers).toEqual(['ann']);
    expect(
      (await listRepresentativePurchases(service, appName, users[199] ?? '')).map(({ purchaseId }) => purchaseId),
    ).not.toContain('store_a:2');
  });

  it('completes a split change after a crash before any write', async () => {
    await checkSample([1, 2, 3], 1, completeSplitChange);
  });
});

/** Crashes before a write of a change with more users than one transaction has writes, then repeats the change. */
async function completeSplitChange(crash: number): Promise<void> {
  const appName = createUniqueName();
  const users = Array.from({ length: 120 }, (_, index) => `user-${index}`);
  await recordPurchase(service, appName, id, buildValidationInput(users[0]));
  await saveClaims(appName, users.slice(1));
  await recordPurchase(service, appName, id, buildValidationInput(users[1]));
  let writes = 0;
  const crashing = createService({
    ...table,
    transact: async (batch) => {
      writes += 1;
      if (writes === crash) throw new Error('crashed');
      await table.transact(batch);
    },
  });
  const next = {
    ...createObservation({ purchaseId: 'store_a:2', transactionId: 'store_a:2' }),
    replacedPurchaseId: id,
  };
  const replacing: RecordPurchaseInput = { ...buildValidationInput(undefined, next), trigger: 'refresh' };
  await recordPurchase(crashing, appName, 'store_a:2', replacing).catch(() => undefined);
  expect(writes).toBe(crash);
  await recordPurchase(service, appName, 'store_a:2', replacing);
  await expectOwners(appName, 'store_a:2', users);
  writes = 0;
  await recordPurchase(crashing, appName, 'store_a:2', buildLinkInput('ann')).catch(() => undefined);
  await recordPurchase(service, appName, 'store_a:2', buildLinkInput('ann'));
  expect((await findPurchase(service, appName, 'store_a:2'))?.entitledUsers).toEqual(['ann']);
  expect(await listRepresentativePurchases(service, appName, 'ann')).toHaveLength(1);
  await expectOwners(appName, id, users);
}

/** Expects that the purchase entitles these users and that the links of all users are correct. */
async function expectOwners(appName: string, purchaseId: string, usernames: readonly string[]): Promise<void> {
  const { entitledUsers = [] } = (await findPurchase(service, appName, purchaseId)) ?? {};
  expect([...entitledUsers].sort()).toEqual([...usernames].sort());
  const links = await rebuildPurchaseLinks(service, appName);
  expect(links).toEqual({ checkedPurchases: 2, addedLinks: 0, deletedLinks: 0, failed: [] });
  for (const username of [usernames[0] ?? '', usernames.at(-1) ?? '']) {
    const owned = await listRepresentativePurchases(service, appName, username);
    expect(owned.map((purchase) => purchase.purchaseId)).toContain(purchaseId);
  }
}
