import type { Key } from '../lib/foundation/key.ts';
import type { StreamRecord } from '../lib/foundation/stream-record.ts';
import type { Table, Write } from '../lib/foundation/table.ts';
import { buildStreamRecord, type ItemChange } from './stream-records.ts';

/** A table with the stream records of its writes. */
export interface RecordedTable {
  /** Records the writes of `transact`, `update` and `batchPut`. */
  readonly table: Table;
  /** Stream records by shard. All records of one partition are in one shard, in the order of writing. */
  readonly shards: readonly StreamRecord[][];
}

export function createRecordedTable(table: Table, shardCount: number): RecordedTable {
  const shards = Array.from({ length: shardCount }, (): StreamRecord[] => []);
  let position = 0;
  const record = (pk: string, change: ItemChange) =>
    shards[chooseShard(pk, shardCount)]?.push(buildStreamRecord(change, position++));
  const recordChanges = async (keys: readonly Key[], write: () => Promise<void>) => {
    const readItems = async () => {
      const items = await table.batchGet(keys);
      return keys.map(({ pk, sk }) => items.find((item) => item.pk === pk && item.sk === sk));
    };
    const itemsBefore = await readItems();
    await write();
    const itemsAfter = await readItems();
    for (const [index, { pk }] of keys.entries()) {
      const [before, after] = [itemsBefore[index], itemsAfter[index]];
      if (before || after) record(pk, { ...(before && { before }), ...(after && { after }) });
    }
  };
  return {
    shards,
    table: {
      ...table,
      transact: async (writes) =>
        await recordChanges(writes.flatMap(getKeys), async () => await table.transact(writes)),
      update: async (update) =>
        await recordChanges(
          getKeys({ Update: { TableName: table.name, ...update } }),
          async () => await table.update(update),
        ),
      async batchPut(items) {
        await table.batchPut(items);
        for (const after of items) record(String(after.pk), { after });
      },
    },
  };
}

const getKeys = ({ Put, Update, Delete }: Write): Key[] => {
  const { pk, sk } = Put?.Item ?? Update?.Key ?? Delete?.Key ?? {};
  return pk === undefined ? [] : [{ pk, sk }];
};

const chooseShard = (pk: string, count: number): number =>
  [...pk].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003, 0) % count;
