import { beforeEach, describe, expect, it } from '@jest/globals';
import { createApp } from '../../../lib/apps/manage-apps.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { minTableVersion, readTableVersion, tableVersion } from '../../../lib/foundation/table-version.ts';
import { findTableVersion, requireConvertible } from '../../../lib/migration/find-table-version.ts';
import { migrateTable } from '../../../lib/migration/migrate-table.ts';
import { registerPayer } from '../../../lib/purchases/payer-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

let service: Service;
beforeEach(async () => {
  service = createService(await createTestTable(createUniqueName()));
});

/** Creates an app, and removes the version, which earlier releases did not store. */
async function givenEarlierApp(name: string): Promise<void> {
  await createApp(service, name, startDate);
  await service.table.batchDelete([keys.tableVersionKey()]);
}

const payer = { since: 1, createdAt: 2, firstPurchaseId: 'store_a:first' };

/** Stores a customer as version 2 does, who first paid for `store_a:first`. */
async function givenEarlierCustomer(appName: string, username: string): Promise<void> {
  const key = keys.customerKey(appName, username);
  const { pk } = key;
  await service.table.batchPut([
    { ...key, username, createdAt: 2, ...keys.customerIndexKeys(appName, username, 2) },
    { pk, sk: 'F', ...payer },
    { pk, sk: 'FX', ...payer, firstPurchaseId: 'store_a:sandbox' },
    { pk, sk: 'G#grant', kept: true },
    { pk, sk: 'H#Smonthly#A' },
  ]);
}

const pay = async (appName: string, username: string, isSandbox = false) => {
  const payment = { purchaseId: 'store_a:later', paidAt: startDate, now: startDate, isGained: true, isSandbox };
  return (await registerPayer(service, appName, username, payment)).payer.firstPurchaseId;
};

const readCustomer = async (appName: string, username: string) =>
  await service.table.query({ partition: keys.customerKey(appName, username).pk });

describe('findTableVersion', () => {
  it('returns the version of this release for an empty table, which the first app stores', async () => {
    expect(await findTableVersion(service)).toEqual({ version: tableVersion, isMarked: false });
    await createApp(service, 'one', startDate);
    expect(await findTableVersion(service)).toEqual({ version: tableVersion, isMarked: true });
  });

  it('returns the earliest version that this release reads for a table with apps and without a version', async () => {
    await givenEarlierApp('one');
    await createApp(service, 'two', startDate);
    expect(await findTableVersion(service)).toEqual({ version: minTableVersion, isMarked: false });
  });

  it.each([
    { pk: 'one#P#store_a:1', sk: 'P', createdPk: 'one#P', createdSk: '1700000000000#store_a:1' },
    { pk: 'APP#one', sk: 'CATALOGUE' },
  ])('returns version 1 for the item $pk $sk, which a migration refuses', async (item) => {
    await givenEarlierApp('one');
    await service.table.batchPut([item]);
    const { version } = await findTableVersion(service);
    expect(version).toBe(1);
    expect(() => requireConvertible(version)).toThrow(/import them into a new table/);
    await expect(migrateTable(service)).rejects.toMatchObject({ code: 'DatabaseError' });
    expect(await readTableVersion(service.table)).toBeUndefined();
  });
});

describe('registerPayer in a table of version 2', () => {
  it.each([
    [false, 'store_a:first'],
    [true, 'store_a:sandbox'],
  ])('returns the first payment that version 2 has stored (sandbox %p)', async (isSandbox, first) => {
    await givenEarlierCustomer('one', 'ann');
    expect(await pay('one', 'ann', isSandbox)).toBe(first);
  });

  it('prefers that payment to a later one that a release without versions has stored', async () => {
    await givenEarlierCustomer('one', 'ann');
    const customer = { ...keys.customerKey('one', 'ann'), username: 'ann', createdAt: 2 };
    await service.table.batchPut([{ ...customer, payer: { ...payer, firstPurchaseId: 'store_a:wrong' } }]);
    expect(await pay('one', 'ann')).toBe('store_a:first');
  });
});

describe('migrateTable', () => {
  it('moves first payments, deletes rankings and stores the version', async () => {
    await givenEarlierApp('one');
    await givenEarlierCustomer('one', 'ann');
    await givenEarlierCustomer('one', 'ben');
    const counts: number[] = [];
    expect(await migrateTable(service, (count) => counts.push(count))).toEqual({ from: 2, checked: 2, converted: 2 });
    expect(counts).toEqual([2]);
    const items = await readCustomer('one', 'ann');
    expect(items.map(({ sk }) => sk)).toEqual(['C', 'G#grant']);
    expect(items[0]).toMatchObject({ payer, sandboxPayer: { firstPurchaseId: 'store_a:sandbox' } });
    expect(await pay('one', 'ben')).toBe('store_a:first');
    expect(await findTableVersion(service)).toEqual({ version: tableVersion, isMarked: true });
    expect(await migrateTable(service)).toEqual({ from: tableVersion, checked: 0, converted: 0 });
  });

  it('does not create a customer who was erased', async () => {
    await givenEarlierApp('one');
    await givenEarlierCustomer('one', 'ann');
    const [erased, ...others] = await readCustomer('one', 'ann');
    await service.table.batchDelete([keys.customerKey('one', 'ann')]);
    await service.table.batchPut([
      { pk: 'one#C#ann', sk: 'X', createdPk: erased?.createdPk, createdSk: erased?.createdSk },
    ]);
    await migrateTable(service);
    expect((await readCustomer('one', 'ann')).map(({ sk }) => sk)).toEqual(['G#grant', 'X']);
    expect(others).toHaveLength(4);
  });

  it('continues after an interruption', async () => {
    for (const name of ['one', 'two']) {
      await givenEarlierApp(name);
      await givenEarlierCustomer(name, 'ann');
    }
    const { table } = service;
    const failing: Service = {
      ...service,
      table: {
        ...table,
        query: async (range) => {
          if (range.partition === 'two#C#ann') throw new Error('interrupted');
          return await table.query(range);
        },
      },
    };
    await expect(migrateTable(failing)).rejects.toThrow('interrupted');
    expect(await findTableVersion(service)).toEqual({ version: 2, isMarked: true });
    expect(await migrateTable(service)).toEqual({ from: 2, checked: 1, converted: 1 });
    expect(await table.get(keys.tableVersionKey())).toEqual({ ...keys.tableVersionKey(), version: tableVersion });
  });

  it('does not store an earlier version over a later one', async () => {
    await createApp(service, 'one', startDate);
    await service.table.batchPut([{ ...keys.tableVersionKey(), version: tableVersion + 1 }]);
    await expect(migrateTable(service)).rejects.toMatchObject({ code: 'DatabaseError' });
    expect(await readTableVersion(service.table)).toBe(tableVersion + 1);
  });
});
