import { indexes, tableKey } from '../../lib/db/keys.ts';
import { countItemBytes, type ItemImage } from './item-size.ts';

/** An item before and after a write; one that is missing is absent. */
export interface ItemChange {
  readonly before?: ItemImage | undefined;
  readonly after?: ItemImage | undefined;
}

const writeBlock = 1024;
const readBlock = 4096;

/** Also what is not there costs one block. */
const countBlocks = (bytes: number, block: number): number => Math.max(1, Math.ceil(bytes / block));

/**
 * Units of a write in the table itself: one for each KB of the larger of its two images, and two of an item in a transaction,
 * which is written to prepare it and to commit it.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html and transaction-apis.html.
 * The condition of a transaction on an item that it does not write costs the same (write units, not read units): of this the
 * documentation says nothing, and pull request 67 of github.com/paritysuite/dynamodb-conformance measured it.
 */
export function countTableUnits({ before, after }: ItemChange, { inTransaction }: { inTransaction: boolean }): number {
  const bytes = Math.max(...[before, after].map((image) => (image ? countItemBytes(image) : 0)));
  return countBlocks(bytes, writeBlock) * (inTransaction ? 2 : 1);
}

/**
 * Units of a write in the indexes: one for each KB of an entry that is put, and of one that is deleted; a key that changes is
 * both. The indexes are KEYS_ONLY, so nothing else of an entry can change.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations
 * A transaction does not double them: the documentation speaks of its items only, and pull request 188 of
 * github.com/nubo-db/dynoxide reports that DynamoDB itself charges an index alike in a transaction and out of it.
 */
export function countIndexUnits({ before, after }: ItemChange): number {
  return Object.values(indexes).reduce((units, index) => {
    const names = [index.pk, index.sk];
    const [old, fresh] = [toIndexEntry(before, names), toIndexEntry(after, names)];
    if (old && fresh && names.every((name) => old[name]?.S === fresh[name]?.S)) return units;
    return [old, fresh].reduce(
      (sum, entry) => sum + (entry ? countBlocks(countItemBytes(entry), writeBlock) : 0),
      units,
    );
  }, 0);
}

/** The entry of an item in an index; undefined when it lacks one of the index's keys. */
function toIndexEntry(item: ItemImage | undefined, names: readonly string[]): ItemImage | undefined {
  if (!item || names.some((name) => item[name] === undefined)) return undefined;
  const projected = Object.entries(item).filter(([name]) => [...Object.values(tableKey), ...names].includes(name));
  return Object.fromEntries(projected);
}

/** How strongly is read; an eventually consistent read costs half. */
interface ReadOptions {
  readonly isConsistent: boolean;
}

/** Units of reading one item by its key, 4 KB each, whether it is there or not. */
export const countItemReadUnits = (item: ItemImage | undefined, { isConsistent }: ReadOptions): number =>
  countBlocks(item ? countItemBytes(item) : 0, readBlock) * (isConsistent ? 1 : 0.5);

/** Units of a query: the sizes of all that it goes through are added before they are rounded. */
export const countQueryUnits = (items: readonly ItemImage[], { isConsistent }: ReadOptions): number =>
  countBlocks(
    items.reduce((bytes, item) => bytes + countItemBytes(item), 0),
    readBlock,
  ) * (isConsistent ? 1 : 0.5);
