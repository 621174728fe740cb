import type { Key } from '../lib/db/keys.ts';
import type { Table, Write } from '../lib/db/table.ts';
import type { StreamRecord } from '../lib/shared/stream-record.ts';
import { buildStreamRecord, type ItemChange } from './stream-records.ts';

/** The table, and a stream of what its transactions change and of new items that are put: records of one partition are in one shard, in order. */
export interface RecordedTable {
  readonly table: Table;
  readonly shards: readonly StreamRecord[][];
}

export function createRecordedTable(table: Table, shardCount: number): RecordedTable {
  const shards = Array.from({ length: shardCount }, (): StreamRecord[] => []);
  let position = 0;
  const record = (pk: string, change: ItemChange) =>
    shards[chooseShard(pk, shardCount)]?.push(buildStreamRecord(change, position++));
  return {
    shards,
    table: {
      ...table,
      async transact(writes) {
        const keys = writes.flatMap(getKeys);
        const read = async () => {
          const items = await table.batchGet(keys);
          return keys.map(({ pk, sk }) => items.find((item) => item.pk === pk && item.sk === sk));
        };
        const before = await read();
        await table.transact(writes);
        const after = await read();
        for (const [index, { pk }] of keys.entries()) {
          const [old, present] = [before[index], after[index]];
          if (!old && !present) continue;
          const change = { ...(old && { before: old }), ...(present && { after: present }) };
          record(pk, change);
        }
      },
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
