import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { App } from '../../../lib/apps/app.ts';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { scanBounds } from '../../../lib/customer-data/customer-data-table.ts';
import { type ErasureCounts, eraseCustomer } from '../../../lib/customer-data/erase-customer.ts';
import { selectExistingCustomers } from '../../../lib/customers/customer-table.ts';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { toKey } from '../../../lib/foundation/key.ts';
import {
  accessTokenKey,
  customerKey,
  eventItemKey,
  namingIndexKeys,
  purchaseKey,
  tagKey,
} from '../../../lib/foundation/keys.ts';
import { toTagValue } from '../../../lib/foundation/redaction/redact-text.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Table, Write } from '../../../lib/foundation/table.ts';
import { selectErasedNames } from '../../../lib/purchases/erased-name-table.ts';
import { listRepresentativePurchases } from '../../../lib/purchases/owned-purchase-table.ts';
import { findPurchase } from '../../../lib/purchases/purchase-table.ts';
import { rebuildPurchaseLinks } from '../../../lib/purchases/rebuild-purchase-links.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { createService } from '../../../testing/create-service.ts';
import { formatItem, scanItems } from '../../../testing/dump-items.ts';
import { findNames } from '../../../testing/find-names.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { givenCustomer } from '../../../testing/given-customer.ts';
import { findItemTypes, namePlaces } from '../../../testing/item-types.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
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
  return [...new Set(naming.flatMap((item) => findItemTypes(toKey(item))))];
};
const listTransactions = async (appName: string): Promise<Transaction[]> =>
  (await listItems(appName)).flatMap(({ transaction }) => (transaction ? [transaction as Transaction] : []));

/** Creates an app with a customer in every kind of item. */
async function givenStoredCustomer(username = 'nora.stripe@example.org') {
  const service = createService(table);
  const app = await getApp(service, (await givenApp(table)).appName);
  const alias = createUniqueName('alias');
  await givenCustomer(service, app, { username, alias, companion });
  return { app, username, alias, service, names: [username, alias] };
}

const noWait = { wait: async () => {} };

describe('eraseCustomer', () => {
  it('removes the username and the aliases from every kind of item', async () => {
    const { app, username, service, names } = await givenStoredCustomer();
    const kinds = await listNamingKinds(app.name, names);
    const naming = Object.entries(namePlaces).filter(([, place]) => !['never', 'digest'].includes(place));
    expect(kinds.sort()).toEqual(naming.map(([type]) => type).sort());
    expect(await eraseCustomer(service, app, username, noWait)).toEqual({
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
    const { app, service, alias } = await givenStoredCustomer(username);
    await eraseCustomer(service, app, username, noWait);
    const texts = (await listItems(app.name)).map((item) => JSON.stringify(item));
    expect(texts.filter((text) => text.includes(JSON.stringify(username).slice(1, -1)))).toEqual([]);
    expect(findNames(texts, [alias])).toEqual([]);
  });

  it('keeps purchases and transactions, and the purchases of other customers', async () => {
    const { app, username, service } = await givenStoredCustomer();
    const transactions = await listTransactions(app.name);
    await eraseCustomer(service, app, username, noWait);
    expect(await listTransactions(app.name)).toEqual(transactions);
    const owned = await listRepresentativePurchases(createService(table), app.name, companion);
    expect(owned.map(({ purchaseId }) => purchaseId).sort()).toEqual([
      'store_a:linked',
      'store_a:lost',
      'store_a:shared',
    ]);
  });

  it('leaves a user with the same name in another app unchanged', async () => {
    const other = await givenStoredCustomer();
    const before = await listItems(other.app.name);
    const { app, service } = await givenStoredCustomer(other.username);
    await eraseCustomer(service, app, other.username, noWait);
    expect(await listItems(other.app.name)).toEqual(before);
  });

  it('does not store an erased name that a store repeats, and does for a customer who returns', async () => {
    const { app, username, alias, service, names } = await givenStoredCustomer();
    await eraseCustomer(service, app, username, noWait);
    const observation = createObservation(
      { purchaseId: 'store_a:later', transactionId: 'store_a:later' },
      { userAliases: [alias, username], checkoutUsername: username },
    );
    // Its app cache does not have the app from before the erasure.
    const later = createService(table);
    await recordObservation(later, app.name, { trigger: 'notification', observation });
    expect(await listNaming(app.name, names)).toEqual([]);
    await recordObservation(later, app.name, { username, observation });
    expect((await findPurchase(later, app.name, 'store_a:later'))?.entitledUsers).toEqual([username]);
    expect(await selectErasedNames(later, app.name, [username])).toEqual([]);
  });

  it('completes an erasure that was interrupted after any write', async () => {
    const { app, username } = await givenStoredCustomer();
    const { counting, countWrites } = countWritesOf(table);
    await eraseCustomer(createService(counting), app, username, noWait);
    expect(countWrites()).toBeGreaterThan(20);
    const writeNumbers = Array.from({ length: countWrites() - 1 }, (_, index) => index + 1);
    await checkSample(writeNumbers, 3, async (writeNumber) => {
      table = await createTestTable(createUniqueName('erasure'));
      const interrupted = await givenStoredCustomer();
      const crashing = createService(crashAfter(table, writeNumber));
      await expect(eraseCustomer(crashing, interrupted.app, interrupted.username, noWait)).rejects.toThrow('crashed');
      await eraseCustomer(interrupted.service, interrupted.app, interrupted.username, noWait);
      expect(await listNaming(interrupted.app.name, interrupted.names)).toEqual([]);
      const links = await rebuildPurchaseLinks(interrupted.service, interrupted.app.name);
      expect(links).toMatchObject({ addedLinks: 0, deletedLinks: 0 });
    });
  });

  it('leaves no half of a customer that validates at the same time', async () => {
    const run = async (delays: readonly number[]): Promise<void> => {
      table = await createTestTable(createUniqueName('erasure'));
      const { app, username, service } = await givenStoredCustomer();
      const validations = delays.map(async (delay, index) => {
        for (let turn = 0; turn < delay; turn++) await selectExistingCustomers(service, app.name, [username]);
        const purchaseId = index % 2 === 0 ? 'store_a:owned' : `store_a:new-${index}`;
        const observation = createObservation({ purchaseId, transactionId: purchaseId });
        const recorded = recordObservation(createService(table), app.name, { username, observation });
        await recorded.catch(() => undefined);
      });
      await eraseCustomer(service, app, username, { wait: async () => void (await Promise.all(validations)) });
      await Promise.all(validations);
      const remaining = await listNaming(app.name, [username]);
      const links = await rebuildPurchaseLinks(service, app.name);
      expect(links).toMatchObject({ addedLinks: 0, deletedLinks: 0 });
      expect(remaining).toEqual([]);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(60), { minLength: 1, maxLength: 4 }), run),
      sampleRuns({ sample: 2, full: 20 }),
    );
  });

  it('reports a user who keeps using the app', async () => {
    const { app, username, service } = await givenStoredCustomer();
    let pass = 0;
    const wait = async () => {
      const purchaseId = `store_a:${pass++}`;
      const observation = createObservation({ purchaseId, transactionId: purchaseId });
      await recordObservation(createService(table), app.name, { username, observation });
    };
    let removed: ErasureCounts | undefined;
    const onRemoved = (counts: ErasureCounts): void => {
      removed = counts;
    };
    await expect(eraseCustomer(service, app, username, { wait, onRemoved })).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining('still using the app'),
    });
    expect(removed).toMatchObject({ purchases: 13, aliases: 4, deliveries: 1, events: 2 });
  });

  it('reports what it has removed before a failure in the middle of a pass', async () => {
    const { app, username } = await givenStoredCustomer();
    const query: Table['query'] = async (range) => {
      if (range.partition === tagKey.partition(app.name, toTagValue(username))) throw new Error('unavailable');
      return await table.query(range);
    };
    expect(await failToErase(createService({ ...table, query }), app, username)).toEqual({
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
    const { app, username } = await givenStoredCustomer();
    const reported: ErasureCounts[] = [];
    const failLast = failCall(10, () => reported.at(-1)?.purchases === 8);
    const transact: Table['transact'] = async (writes) => {
      if (writes.some(isPurchaseWrite)) await failLast();
      await table.transact(writes);
    };
    expect(await failToErase(createService({ ...table, transact }), app, username, reported)).toMatchObject({
      purchases: 8,
      unclaimedPurchases: 1,
      aliases: 4,
      vaultReferences: 1,
    });
  });

  it('reports the vault reference of a purchase that changes concurrently', async () => {
    const { app, username } = await givenStoredCustomer();
    let conflicts = 0;
    const partition = purchaseKey.partition(app.name, 'processor_b:owned');
    const transact: Table['transact'] = async (writes) => {
      if (writes.some((write) => isPurchaseWrite(write) && write.Put?.Item?.pk === partition) && conflicts++ === 0) {
        throw new ServiceError('Conflict', 'The data was changed by a concurrent request.');
      }
      await table.transact(writes);
    };
    const counts = await eraseCustomer(createService({ ...table, transact }), app, username, noWait);
    expect(conflicts).toBe(2);
    expect(counts).toMatchObject({ purchases: 9, vaultReferences: 1 });
  });

  it('reports each event that it has changed before a later failure', async () => {
    const { app, username } = await givenStoredCustomer();
    const reported: ErasureCounts[] = [];
    const failLast = failCall(2, () => reported.at(-1)?.events === 1);
    const update: Table['update'] = async (change) => {
      if (String(change.Key?.sk).startsWith(eventItemKey.sortKey())) await failLast();
      await table.update(change);
    };
    const service = createService({ ...table, update });
    expect(await failToErase(service, app, username, reported)).toMatchObject({ events: 1 });
  });

  it('reports each page of items that it has deleted before a failure', async () => {
    const { app, username } = await givenStoredCustomer();
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
    const service = createService({ ...table, batchDelete });
    Object.assign(scanBounds(service), { pageSize: 50 });
    expect(await failToErase(service, app, username)).toMatchObject({ accessTokens: 50 });
  });

  it('reports the deleted links of a customer whose own item cannot be deleted', async () => {
    const { app, username } = await givenStoredCustomer();
    const batchDelete: Table['batchDelete'] = async (keys) => {
      if (keys[0]?.sk === customerKey(app.name, username).sk) throw new Error('unavailable');
      await table.batchDelete(keys);
    };
    const { customerItems } = await failToErase(createService({ ...table, batchDelete }), app, username);
    expect(customerItems).toBeGreaterThan(0);
  });
});

/** Runs an erasure that fails with `unavailable`, and returns the last reported counts. */
async function failToErase(
  service: Service,
  app: App,
  username: string,
  reported: ErasureCounts[] = [],
): Promise<ErasureCounts> {
  const options = { ...noWait, onRemoved: (counts: ErasureCounts) => void reported.push(counts) };
  await expect(eraseCustomer(service, app, username, options)).rejects.toThrow('unavailable');
  const last = reported.at(-1);
  if (!last) throw new Error('No counts were reported.');
  return last;
}

/** Makes a call fail when the effects of the earlier ones are reported. */
function failCall(callNumber: number, isReported: () => boolean) {
  let started = 0;
  return async (): Promise<void> => {
    if (++started !== callNumber) return;
    await waitFor('the reports of the other calls', isReported);
    throw new Error('unavailable');
  };
}

const isPurchaseWrite = ({ Put }: Write): boolean => Put?.Item?.sk === purchaseKey.sortKey();

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
