import { describe, expect, it } from '@jest/globals';
import { tableVersionKey } from '../../../lib/foundation/keys.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { guardVersion, minTableVersion, tableVersion } from '../../../lib/foundation/table-version.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(async () => await createTestTable('table-version'));

const item = { pk: 'app#I', sk: 'I' };

/** Guards the table, which has this version, and counts the reads of single items. */
async function guard(version: number | undefined) {
  if (version === undefined) await table.batchDelete([tableVersionKey()]);
  else await table.batchPut([{ ...tableVersionKey(), version }]);
  const counts = { gets: 0 };
  const counted: Table = {
    ...table,
    get: async (key) => {
      counts.gets += 1;
      return await table.get(key);
    },
  };
  return { guarded: guardVersion(counted), counts };
}

const refusal = { code: 'DatabaseError', status: 500, retryable: true, isPermanent: false };

describe('guardVersion', () => {
  it.each([undefined, minTableVersion, tableVersion])('allows all calls of a table of version %p', async (version) => {
    const { guarded } = await guard(version);
    await guarded.batchPut([item]);
    expect(await guarded.get(item)).toEqual(item);
    await guarded.batchDelete([item]);
    expect(await guarded.query({ partition: item.pk })).toEqual([]);
  });

  it('reads the version once, also for concurrent calls', async () => {
    const { guarded, counts } = await guard(tableVersion);
    await Promise.all([guarded.batchGet([item]), guarded.query({ partition: item.pk }), guarded.batchPut([item])]);
    await guarded.batchDelete([item]);
    expect(counts.gets).toBe(1);
  });

  it('refuses each write to a newer table, and allows reads', async () => {
    const { guarded } = await guard(tableVersion + 1);
    const update = { Key: item, UpdateExpression: 'SET f = :f', ExpressionAttributeValues: { ':f': 1 } };
    const writes = [
      () => guarded.batchPut([item]),
      () => guarded.batchDelete([item]),
      () => guarded.update(update),
      () => guarded.delete({ Key: item }),
      () => guarded.transact([{ Put: { TableName: table.name, Item: item } }]),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject(refusal);
    expect(await guarded.get(item)).toBeUndefined();
    expect(await guarded.batchGet([item])).toEqual([]);
  });

  it('refuses reads and writes of a table that is too old', async () => {
    const { guarded } = await guard(minTableVersion - 1);
    await expect(guarded.get(item)).rejects.toMatchObject(refusal);
    await expect(guarded.query({ partition: item.pk })).rejects.toMatchObject(refusal);
    await expect(guarded.batchPut([item])).rejects.toMatchObject(refusal);
  });

  it('reads the version again after a failure', async () => {
    await table.batchPut([{ ...tableVersionKey(), version: tableVersion }]);
    let fails = true;
    const guarded = guardVersion({
      ...table,
      get: async (key) => {
        if (fails) throw new Error('unavailable');
        return await table.get(key);
      },
    });
    await expect(guarded.batchGet([item])).rejects.toThrow('unavailable');
    fails = false;
    expect(await guarded.batchGet([item])).toEqual([]);
  });
});
