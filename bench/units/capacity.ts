import { indexes, tableKey } from '../../lib/foundation/key.ts';
import { countItemBytes, type ItemImage } from './item-size.ts';

/** An item before and after a write. Undefined if it does not exist. */
export interface ItemChange {
  readonly before?: ItemImage | undefined;
  readonly after?: ItemImage | undefined;
}

const writeBlock = 1024;
const readBlock = 4096;

/** Counts at least one block: a missing item costs the same as a small item. */
const countBlocks = (bytes: number, block: number): number => Math.max(1, Math.ceil(bytes / block));

/**
 * Counts the write units of an item in the table: one per KB of the larger image, twice in a transaction (prepare,
 * commit). A condition check costs the same: not documented, measured in pull request 67 of
 * github.com/paritysuite/dynamodb-conformance.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
export function countTableUnits({ before, after }: ItemChange, { inTransaction }: { inTransaction: boolean }): number {
  const bytes = Math.max(...[before, after].map((image) => (image ? countItemBytes(image) : 0)));
  return countBlocks(bytes, writeBlock) * (inTransaction ? 2 : 1);
}

/**
 * Counts the write units of an item in the indexes: one per KB of an entry that is put or deleted. A changed key does
 * both; the indexes are KEYS_ONLY, so other changes are free. A transaction does not double them: not documented,
 * reported in pull request 188 of github.com/nubo-db/dynoxide.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations
 */
export const countIndexUnits = (change: ItemChange): number =>
  listIndexWrites(change).reduce((sum, { units }) => sum + units, 0);

/** An entry of an index that a write puts or deletes. */
interface IndexWrite {
  readonly indexName: string;
  readonly partition: string;
  readonly units: number;
}

/** Lists the index entries that a write puts or deletes. */
export function listIndexWrites({ before, after }: ItemChange): IndexWrite[] {
  return Object.entries(indexes).flatMap(([indexName, { pk, sk }]) => {
    const [oldEntry, newEntry] = [toIndexEntry(before, [pk, sk]), toIndexEntry(after, [pk, sk])];
    if (oldEntry && newEntry && [pk, sk].every((name) => oldEntry[name]?.S === newEntry[name]?.S)) return [];
    return [oldEntry, newEntry].flatMap((entry) =>
      entry
        ? [{ indexName, partition: entry[pk]?.S ?? '', units: countBlocks(countItemBytes(entry), writeBlock) }]
        : [],
    );
  });
}

/** Bytes that DynamoDB adds to the size of each item and each index entry in the storage. */
const storageOverhead = 100;

/**
 * Counts the stored bytes of an item and of its index entries.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function countStoredBytes(item: ItemImage): number {
  const entries = Object.values(indexes).flatMap(({ pk, sk }): ItemImage[] => {
    const entry = toIndexEntry(item, [pk, sk]);
    return entry ? [entry] : [];
  });
  return [item, ...entries].reduce((bytes, stored) => bytes + countItemBytes(stored) + storageOverhead, 0);
}

/** Returns the index entry of an item, or undefined if the item lacks a key of the index. */
function toIndexEntry(item: ItemImage | undefined, names: readonly string[]): ItemImage | undefined {
  if (!item || names.some((name) => item[name] === undefined)) return undefined;
  const projected = Object.entries(item).filter(([name]) => [...Object.values(tableKey), ...names].includes(name));
  return Object.fromEntries(projected);
}

interface ReadOptions {
  /** An eventually consistent read costs half as much. */
  readonly isConsistent: boolean;
}

/** Counts the units of reading one item by its key: one per 4 KB, even if the item does not exist. */
export const countItemReadUnits = (item: ItemImage | undefined, { isConsistent }: ReadOptions): number =>
  countBlocks(item ? countItemBytes(item) : 0, readBlock) * (isConsistent ? 1 : 0.5);

/** Counts the units of a query: the sizes of all items are added before they are rounded up. */
export const countQueryUnits = (items: readonly ItemImage[], { isConsistent }: ReadOptions): number =>
  countBlocks(
    items.reduce((bytes, item) => bytes + countItemBytes(item), 0),
    readBlock,
  ) * (isConsistent ? 1 : 0.5);
