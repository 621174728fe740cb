import { retryUntilWritten } from './retry.ts';

interface VersionedItem {
  readonly version: number;
}

/**
 * Changes an item with optimistic locking, and reads it again if another writer was faster. Returns the stored item, or
 * undefined without one. A `change` that returns its argument writes nothing.
 */
export async function updateVersioned<T extends VersionedItem>(
  find: () => Promise<T | undefined>,
  change: (item: T) => T,
  /** Writes the item if the stored version is the one before. Returns false otherwise. */
  replace: (item: T) => Promise<boolean>,
): Promise<T | undefined> {
  const { item } = await retryUntilWritten(async () => {
    const before = await find();
    if (!before) return { item: undefined };
    const changed = change(before);
    if (changed === before) return { item: before };
    const after = { ...changed, version: before.version + 1 };
    return (await replace(after)) ? { item: after } : undefined;
  });
  return item;
}
