import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { App } from '../../../lib/apps/app.ts';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { type EraseDeps, type ErasureCounts, eraseCustomer } from '../../../lib/customer-data/erase-customer.ts';
import { createCustomerDataRepository } from '../../../lib/db/customer-data-repository.ts';
import { createOwnedPurchaseRepository } from '../../../lib/db/owned-purchase-repository.ts';
import { rebuildPurchaseLinks } from '../../../lib/db/rebuild-purchase-links.ts';
import { accessTokenKey, customerKey, namingIndexKeys, toKey } from '../../../lib/foundation/keys.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { ServiceError } from '../../../lib/shared/errors.ts';
import { formatItem, scanItems } from '../../../testing/dump-items.ts';
import { findNames } from '../../../testing/find-names.ts';
import { createObservation, createUniqueName, givenApp, startDate } from '../../../testing/given.ts';
import { createCustomerDataDeps, givenCustomer } from '../../../testing/given-customer.ts';
import { findItemKinds, itemKinds } from '../../../testing/item-kinds.ts';
import { buildValidationInput } from '../../../testing/purchase-repository.ts';
import { checkSample, sampleRuns } from '../../../testing/sample.ts';
import { createTestTable } from '../../../testing/table.ts';
import { waitFor } from '../../../testing/wait-for.ts';

const companion = 'companion@example.com';

/** Each customer has a table, because these tests scan it. */
let table: Table;
beforeEach(async () => {
  table = await createTestTable(createUniqueName('erasure'));
});

const listItems = async (appName: string) =>
  (await scanItems(table.name)).filter(({ pk }) => String(pk).startsWith(`${appName}#`));
const listNaming = async (appName: string, names: readonly string[]) =>
  findNames((await listItems(appName)).map(formatItem), names);
const listNamingKinds = async (appName: string, names: readonly string[]): Promise<string[]> => {
  const naming = (await listItems(appName)).filter((item) => findNames([formatItem(item)], names).length > 0);
  return [...new Set(naming.flatMap((item) => findItemKinds(toKey(item))))];
};
const listTransactions = async (appName: string): Promise<Transaction[]> =>
  (await listItems(appName)).flatMap(({ transaction }) => (transaction ? [transaction as Transaction] : []));

/** Creates an app with a customer in every kind of item. */
async function givenStoredCustomer(username = createUniqueName('user')) {
  const deps = createCustomerDataDeps(table);
  const app = await getApp(deps.apps, (await givenApp(table)).appName);
  const alias = createUniqueName('alias');
  await givenCustomer(app, { username, alias, companion }, deps);
  return { app, username, alias, deps, names: [username, alias] };
}

const noWait = { wait: async () => {} };

describe('eraseCustomer', () => {
  it('removes the username and the aliases from every kind of item', async () => {
    const { app, username, deps, names } = await givenStoredCustomer();
    const kinds = await listNamingKinds(app.name, names);
    const naming = Object.entries(itemKinds).filter(([, { names: place }]) => !['never', 'digest'].includes(place));
    expect(kinds.sort()).toEqual(naming.map(([title]) => title).sort());
    expect(await eraseCustomer(app, username, deps, noWait)).toEqual({
      purchases: 9,
      unclaimedPurchases: 1,
      aliases: 4,
      vaultReferences: 1,
      accessTokens: 1,
      deliveries: 1,
      events: 2,
      customerItems: expect.any(Number),
    });
    expect(await listNaming(app.name, names)).toEqual([]);
  });

  it.each([
    ['odd characters', `o'"\\/?#%+&<ü🙂 `],
    ['the characters of keys', '#C#P#N#'],
    ['a member of every object', '__proto__'],
    ['900 bytes', 'ü'.repeat(450)],
  ])('erases a username with %s', async (_what, username) => {
    const { app, deps, alias } = await givenStoredCustomer(username);
    await eraseCustomer(app, username, deps, noWait);
    const texts = (await listItems(app.name)).map((item) => JSON.stringify(item));
    expect(texts.filter((text) => text.includes(JSON.stringify(username).slice(1, -1)))).toEqual([]);
    expect(findNames(texts, [alias])).toEqual([]);
  });

  it('keeps purchases and transactions, and the purchases of other customers', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    const transactions = await listTransactions(app.name);
    await eraseCustomer(app, username, deps, noWait);
    expect(await listTransactions(app.name)).toEqual(transactions);
    const owned = await createOwnedPurchaseRepository(table).listRepresentativePurchases(app.name, companion);
    expect(owned.map(({ purchaseId }) => purchaseId).sort()).toEqual([
      'store_a:linked',
      'store_a:lost',
      'store_a:shared',
    ]);
  });

  it('leaves a user with the same name in another app unchanged', async () => {
    const other = await givenStoredCustomer();
    const before = await listItems(other.app.name);
    const { app, deps } = await givenStoredCustomer(other.username);
    await eraseCustomer(app, other.username, deps, noWait);
    expect(await listItems(other.app.name)).toEqual(before);
  });

  it('does not store an erased name that a store repeats, and does for a customer who returns', async () => {
    const { app, username, alias, deps, names } = await givenStoredCustomer();
    await eraseCustomer(app, username, deps, noWait);
    const observation = createObservation(
      { purchaseId: 'store_a:later', transactionId: 'store_a:later' },
      { userAliases: [alias, username], checkoutUsername: username },
    );
    const input = { trigger: 'notification', observation, strategy: 'all', now: startDate } as const;
    await deps.recordPurchase(app.name, 'store_a:later', input);
    expect(await listNaming(app.name, names)).toEqual([]);
    await deps.recordPurchase(app.name, 'store_a:later', buildValidationInput(username, observation));
    expect((await deps.purchases.find(app.name, 'store_a:later'))?.entitledUsers).toEqual([username]);
    expect(await deps.erasedNames.select(app.name, [username])).toEqual([]);
  });

  it('completes an erasure that was interrupted after any write', async () => {
    const { app, username } = await givenStoredCustomer();
    const { counting, countWrites } = countWritesOf(table);
    await eraseCustomer(app, username, createCustomerDataDeps(counting), noWait);
    expect(countWrites()).toBeGreaterThan(20);
    const writeNumbers = Array.from({ length: countWrites() - 1 }, (_, index) => index + 1);
    await checkSample(writeNumbers, 3, async (writeNumber) => {
      table = await createTestTable(createUniqueName('erasure'));
      const interrupted = await givenStoredCustomer();
      const crashing = createCustomerDataDeps(crashAfter(table, writeNumber));
      await expect(eraseCustomer(interrupted.app, interrupted.username, crashing, noWait)).rejects.toThrow('crashed');
      await eraseCustomer(interrupted.app, interrupted.username, interrupted.deps, noWait);
      expect(await listNaming(interrupted.app.name, interrupted.names)).toEqual([]);
      const links = await rebuildPurchaseLinks(table, interrupted.app.name);
      expect(links).toMatchObject({ addedLinks: 0, deletedLinks: 0 });
    });
  });

  it('leaves no half of a customer that validates at the same time', async () => {
    const run = async (delays: readonly number[]): Promise<void> => {
      table = await createTestTable(createUniqueName('erasure'));
      const { app, username, deps } = await givenStoredCustomer();
      const validations = delays.map(async (delay, index) => {
        for (let turn = 0; turn < delay; turn++) await deps.customers.selectExisting(app.name, [username]);
        const purchaseId = index % 2 === 0 ? 'store_a:owned' : `store_a:new-${index}`;
        const observation = createObservation({ purchaseId, transactionId: purchaseId });
        await deps
          .recordPurchase(app.name, purchaseId, buildValidationInput(username, observation))
          .catch(() => undefined);
      });
      await eraseCustomer(app, username, deps, { wait: async () => void (await Promise.all(validations)) });
      await Promise.all(validations);
      const remaining = await listNaming(app.name, [username]);
      const links = await rebuildPurchaseLinks(table, app.name);
      expect(links).toMatchObject({ addedLinks: 0, deletedLinks: 0 });
      expect(remaining).toEqual([]);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60), { minLength: 1, maxLength: 4 }), run),
      sampleRuns({ sample: 2, full: 20 }),
    );
  });

  it('reports a user who keeps using the app', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    let pass = 0;
    const wait = async () => {
      const purchaseId = `store_a:${pass++}`;
      const observation = createObservation({ purchaseId, transactionId: purchaseId });
      await deps.recordPurchase(app.name, purchaseId, buildValidationInput(username, observation));
    };
    let removed: ErasureCounts | undefined;
    const onRemoved = (counts: ErasureCounts): void => {
      removed = counts;
    };
    await expect(eraseCustomer(app, username, deps, { wait, onRemoved })).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining('still using the app'),
    });
    expect(removed).toMatchObject({ purchases: 13, aliases: 4, deliveries: 1, events: 2 });
  });

  it('reports what it has removed before a failure in the middle of a pass', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    const customerData = {
      ...deps.customerData,
      eraseFromEvents: async () => {
        throw new Error('unavailable');
      },
    };
    expect(await failToErase(app, username, { ...deps, customerData })).toEqual({
      purchases: 9,
      unclaimedPurchases: 1,
      aliases: 4,
      vaultReferences: 1,
      accessTokens: 1,
      deliveries: 1,
      events: 0,
      customerItems: 1,
    });
  });

  it('reports each purchase that it has changed before a later failure', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    const purchases = { ...deps.purchases, saveChange: failLast(10, deps.purchases.saveChange) };
    expect(await failToErase(app, username, { ...deps, purchases })).toMatchObject({
      purchases: 8,
      unclaimedPurchases: 1,
      aliases: 4,
      vaultReferences: 1,
    });
  });

  it('reports the vault reference of a purchase that changes concurrently', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    let conflicts = 0;
    const saveChange: typeof deps.purchases.saveChange = async (appName, change, part) => {
      if (change.after.state.purchase.purchaseId === 'processor_b:owned' && conflicts++ === 0) {
        throw new ServiceError('Conflict', 'The data was changed by a concurrent request.');
      }
      await deps.purchases.saveChange(appName, change, part);
    };
    const counts = await eraseCustomer(
      app,
      username,
      { ...deps, purchases: { ...deps.purchases, saveChange } },
      noWait,
    );
    expect(counts).toMatchObject({ purchases: 9, vaultReferences: 1 });
  });

  it('reports each event that it has changed before a later failure', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    const customerData = createCustomerDataRepository({ ...table, update: failLast(2, table.update) });
    expect(await failToErase(app, username, { ...deps, customerData })).toMatchObject({ events: 1 });
  });

  it('reports each page of items that it has deleted before a failure', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    const tokens = Array.from({ length: 51 }, (_, number) => {
      const key = accessTokenKey(app.name, `token-${number}`);
      return { ...key, ...namingIndexKeys({ appName: app.name, username, kind: 'accessToken', date: startDate }, key) };
    });
    await table.batchPut(tokens);
    let pages = 0;
    const batchDelete: Table['batchDelete'] = async (keys) => {
      if (keys[0]?.sk === tokens[0]?.sk && ++pages === 2) throw new Error('unavailable');
      await table.batchDelete(keys);
    };
    const customerData = createCustomerDataRepository({ ...table, batchDelete }, { pageSize: 50 });
    expect(await failToErase(app, username, { ...deps, customerData })).toMatchObject({ accessTokens: 50 });
  });

  it('reports the deleted links of a customer whose own item cannot be deleted', async () => {
    const { app, username, deps } = await givenStoredCustomer();
    const batchDelete: Table['batchDelete'] = async (keys) => {
      if (keys[0]?.sk === customerKey(app.name, username).sk) throw new Error('unavailable');
      await table.batchDelete(keys);
    };
    const customerData = createCustomerDataRepository({ ...table, batchDelete });
    const { customerItems } = await failToErase(app, username, { ...deps, customerData });
    expect(customerItems).toBeGreaterThan(0);
  });
});

/** Runs an erasure that fails with `unavailable`, and returns the last reported counts. */
async function failToErase(app: App, username: string, deps: EraseDeps): Promise<ErasureCounts> {
  const removed: ErasureCounts[] = [];
  const options = { ...noWait, onRemoved: (counts: ErasureCounts) => void removed.push(counts) };
  await expect(eraseCustomer(app, username, deps, options)).rejects.toThrow('unavailable');
  const last = removed.at(-1);
  if (!last) throw new Error('No counts were reported.');
  return last;
}

/** Makes the last of `callCount` calls fail when the other ones have ended. */
function failLast<A extends readonly unknown[]>(callCount: number, call: (...args: A) => Promise<void>) {
  let [started, ended] = [0, 0];
  return async (...args: A): Promise<void> => {
    if (++started === callCount) {
      await waitFor('the end of the other calls', () => ended === callCount - 1);
      throw new Error('unavailable');
    }
    await call(...args);
    ended++;
  };
}

/** Wraps the writes of a table. */
const wrapWrites = (intact: Table, around: (write: () => Promise<void>) => Promise<void>): Table => ({
  ...intact,
  update: async (update) => await around(async () => await intact.update(update)),
  delete: async (deletion) => await around(async () => await intact.delete(deletion)),
  transact: async (writes) => await around(async () => await intact.transact(writes)),
  batchPut: async (items) => await around(async () => await intact.batchPut(items)),
  batchDelete: async (keys) => await around(async () => await intact.batchDelete(keys)),
});

function countWritesOf(intact: Table) {
  let writes = 0;
  const counting = wrapWrites(intact, async (write) => {
    writes++;
    await write();
  });
  return { counting, countWrites: () => writes };
}

/** Creates a table that fails after a write, and at all later writes. */
function crashAfter(intact: Table, writeNumber: number): Table {
  let writes = 0;
  return wrapWrites(intact, async (write) => {
    if (++writes <= writeNumber) await write();
    if (writes >= writeNumber) throw new Error('crashed');
  });
}
