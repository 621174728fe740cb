import { beforeAll, describe, expect, it } from '@jest/globals';
import { claimKey, purchasePartition } from '../../../lib/db/keys.ts';
import type { Table } from '../../../lib/db/table.ts';
import { createTransactionRepository } from '../../../lib/db/transaction-repository.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/record-purchase.ts';
import { createObservation, createTransaction, createUniqueName, dayMs, startDate } from '../../../testing/given.ts';
import { buildValidationInput, createTestPurchases, type TestPurchases } from '../../../testing/purchase-repository.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
let purchases: TestPurchases;
beforeAll(async () => {
  table = await createTestTable();
  purchases = createTestPurchases(table);
});

const id = 'store_a:1';
const linked = (username: string): RecordPurchaseInput => ({
  trigger: 'link',
  claim: { username, source: 'manual' },
  strategy: 'all',
  now: startDate + dayMs,
});
const renewal = (number: number) => {
  const at = startDate + number * 31 * dayMs;
  const { purchase } = createObservation({
    transactionId: `store_a:${number}`,
    lastRenewalDate: at,
    expirationDate: at + 31 * dayMs,
  });
  return { asOf: at, purchase, transactions: [createTransaction(purchase)], userAliases: [] };
};

/** Claims as they are kept; the next change makes owners of them. */
async function claimFor(appName: string, usernames: readonly string[]): Promise<void> {
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

describe('purchases in the table', () => {
  it('can be read back at once by id and by owner', async () => {
    const appName = createUniqueName();
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    expect(await purchases.find(appName, id)).toMatchObject({
      purchase: { productId: 'store_a:monthly' },
      entitledUsers: ['ann'],
    });
    expect(await purchases.listByUser(appName, 'ann')).toMatchObject([{ purchaseId: id, amountMicros: 4_990_000 }]);
    expect(await purchases.listNotifications(appName, id)).toMatchObject([{ reason: 'PURCHASED' }]);
  });

  it('move their date of update on with each change, also when the clock of its writer is behind', async () => {
    const appName = createUniqueName();
    const recorded = await Promise.all(
      [renewal(1), renewal(2), renewal(3)].map((look) =>
        purchases.recordPurchase(appName, id, buildValidationInput('ann', look)),
      ),
    );
    const dates = recorded.map((one) => one?.change?.after.updatedAt ?? 0);
    expect(new Set(dates).size).toBe(3);
    const late = { ...buildValidationInput('ann', renewal(4)), now: startDate - dayMs };
    expect((await purchases.recordPurchase(appName, id, late))?.change?.after.updatedAt).toBeGreaterThan(
      Math.max(...dates),
    );
  });

  it('lose nothing when many writers race on one purchase', async () => {
    const appName = createUniqueName();
    const users = ['ann', 'bob', 'cy', 'dee'];
    const races = users.flatMap((username, index) => [
      purchases.recordPurchase(appName, id, buildValidationInput(username)),
      purchases.recordPurchase(appName, id, buildValidationInput(undefined, renewal(index + 1))),
    ]);
    await Promise.all(races);
    const stored = await purchases.find(appName, id);
    expect([...(stored?.entitledUsers ?? [])].sort()).toEqual(users);
    expect(stored?.purchase.transactionId).toBe('store_a:4');
    const ids = (await purchases.listTransactions(appName, [id])).map(({ transactionId }) => transactionId);
    expect(ids.sort()).toEqual(['store_a:1', 'store_a:2', 'store_a:3', 'store_a:4']);
    for (const username of users) expect(await purchases.listByUser(appName, username)).toHaveLength(1);
  });

  it('write nothing when the same receipt is seen again', async () => {
    const appName = createUniqueName();
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    const before = table.consumed.write;
    const again = await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    expect(again?.change).toBeUndefined();
    expect(table.consumed.write).toBe(before);
  });

  it('move with a manual link to its user alone, and a later validation changes that not', async () => {
    const appName = createUniqueName();
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    const moved = await purchases.recordPurchase(appName, id, linked('bob'));
    expect(moved?.change).toMatchObject({ gainedUsers: ['bob'], lostUsers: ['ann'] });
    await purchases.recordPurchase(appName, id, buildValidationInput('ann', renewal(2)));
    expect(await purchases.listByUser(appName, 'ann')).toEqual([]);
    expect(await purchases.listByUser(appName, 'bob')).toHaveLength(1);
  });

  it('bring the users of the purchase that they replace along', async () => {
    const appName = createUniqueName();
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    const { purchase } = createObservation({ purchaseId: 'store_a:2', transactionId: 'store_a:2' });
    const replacement = createObservation(purchase, { replacedPurchaseId: id });
    await purchases.recordPurchase(appName, 'store_a:2', buildValidationInput(undefined, replacement));
    expect(await purchases.find(appName, 'store_a:2')).toMatchObject({ entitledUsers: ['ann'] });
    expect(await purchases.listByUser(appName, 'ann')).toHaveLength(2);
  });

  it('hold no refresh token in clear', async () => {
    const appName = createUniqueName();
    await purchases.recordPurchase(
      appName,
      id,
      buildValidationInput('ann', { ...createObservation(), refreshToken: { token: 'secret-token' } }),
    );
    const items = await table.query({ partition: purchasePartition(appName, id) });
    expect(JSON.stringify(items)).toContain('refreshToken');
    expect(JSON.stringify(items)).not.toContain('secret-token');
  });

  it('are not made by a link to a purchase that nobody knows', async () => {
    const appName = createUniqueName();
    expect(await purchases.recordPurchase(appName, id, linked('bob'))).toBeUndefined();
    expect(await purchases.find(appName, id)).toBeUndefined();
  });

  it('take a history longer than one transaction of the table', async () => {
    const appName = createUniqueName();
    const renewals = Array.from({ length: 187 }, (_, index) => renewal(index + 1));
    const last = renewals.at(-1);
    if (!last) throw new Error('there are renewals');
    await purchases.recordPurchase(
      appName,
      id,
      buildValidationInput('ann', { ...last, transactions: renewals.flatMap(({ transactions }) => transactions) }),
    );
    expect(await purchases.listTransactions(appName, [id])).toHaveLength(187);
    expect((await purchases.find(appName, id))?.purchase.transactionId).toBe('store_a:187');
  });

  it('take as many users as their item can hold, and the purchase that replaces them takes these along', async () => {
    const appName = createUniqueName();
    const users = Array.from({ length: 501 }, (_, index) => `${'user-of-the-family-'.repeat(4)}${index}`);
    for (const user of users.slice(0, 3)) await purchases.recordPurchase(appName, id, buildValidationInput(user));
    await claimFor(appName, users.slice(3, 500));
    await purchases.recordPurchase(appName, id, buildValidationInput(users[3]));
    await purchases.recordPurchase(appName, id, buildValidationInput(users[500]));
    expect((await purchases.find(appName, id))?.entitledUsers).toHaveLength(500);
    expect(await purchases.listByUser(appName, users[500] ?? '')).toEqual([]);
    const next = {
      ...createObservation({ purchaseId: 'store_a:2', transactionId: 'store_a:2' }),
      replacedPurchaseId: id,
    };
    await purchases.recordPurchase(appName, 'store_a:2', {
      ...buildValidationInput(undefined, next),
      trigger: 'refresh',
    });
    expect((await purchases.find(appName, 'store_a:2'))?.entitledUsers).toHaveLength(500);
    for (const user of [users[0], users[499]]) {
      expect((await purchases.listByUser(appName, user ?? '')).map(({ purchaseId }) => purchaseId)).toContain(
        'store_a:2',
      );
    }
    await purchases.recordPurchase(appName, 'store_a:2', linked('ann'));
    expect((await purchases.find(appName, 'store_a:2'))?.entitledUsers).toEqual(['ann']);
    expect((await purchases.listByUser(appName, users[499] ?? '')).map(({ purchaseId }) => purchaseId)).not.toContain(
      'store_a:2',
    );
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'that change hands in many writes are whole again after a crash before write %i',
    async (crash) => {
      const appName = createUniqueName();
      const users = Array.from({ length: 120 }, (_, index) => `user-${index}`);
      await purchases.recordPurchase(appName, id, buildValidationInput(users[0]));
      await claimFor(appName, users.slice(1));
      await purchases.recordPurchase(appName, id, buildValidationInput(users[1]));
      let writes = 0;
      const crashing = createTestPurchases({
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
      await crashing.recordPurchase(appName, 'store_a:2', replacing).catch(() => undefined);
      await purchases.recordPurchase(appName, 'store_a:2', replacing);
      for (const user of users) {
        const owned = (await purchases.listByUser(appName, user)).map(({ purchaseId }) => purchaseId);
        expect(owned).toContain('store_a:2');
      }
      writes = 0;
      await crashing.recordPurchase(appName, 'store_a:2', linked('ann')).catch(() => undefined);
      await purchases.recordPurchase(appName, 'store_a:2', linked('ann'));
      for (const user of users) {
        expect((await purchases.listByUser(appName, user)).map(({ purchaseId }) => purchaseId)).toEqual([id]);
      }
      expect(await purchases.listByUser(appName, 'ann')).toHaveLength(1);
    },
  );

  it('are invisible to another application with the same ids', async () => {
    const [appName, other] = [createUniqueName(), createUniqueName()];
    await purchases.recordPurchase(appName, id, buildValidationInput('ann'));
    expect(await purchases.find(other, id)).toBeUndefined();
    expect(await purchases.listByUser(other, 'ann')).toEqual([]);
    expect(await createTransactionRepository(table).find(other, 'store_a:1')).toBeUndefined();
    expect(await createTransactionRepository(table).find(appName, 'store_a:1')).toMatchObject({ purchaseId: id });
  });
});
