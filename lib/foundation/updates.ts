import { isConflict } from './errors.ts';
import type { Key } from './key.ts';
import { retryUntilWritten } from './retry.ts';
import type { Item, Table, Update } from './table.ts';

/** A condition expression with its attribute names and values. */
interface UpdateCondition {
  readonly expression: string;
  readonly values?: Item;
  readonly names?: Readonly<Record<string, string>>;
}

/** Builds the update that sets the defined fields of an item and removes the undefined ones. */
export function buildUpdate(key: Key, fields: Item, condition?: UpdateCondition): Update {
  const attributes = Object.entries(fields).map(([name, value], index) => ({ name, value, placeholder: `f${index}` }));
  const setAttributes = attributes.filter(({ value }) => value !== undefined);
  const removedAttributes = attributes.filter(({ value }) => value === undefined);
  const setClauses = setAttributes.map(({ placeholder }) => `#${placeholder} = :${placeholder}`);
  const removeClauses = removedAttributes.map(({ placeholder }) => `#${placeholder}`);
  const values = {
    ...Object.fromEntries(setAttributes.map(({ placeholder, value }) => [`:${placeholder}`, value])),
    ...condition?.values,
  };
  return {
    Key: { ...key },
    UpdateExpression: [
      setClauses.length > 0 ? `SET ${setClauses.join(', ')}` : '',
      removeClauses.length > 0 ? `REMOVE ${removeClauses.join(', ')}` : '',
    ].join(' '),
    ExpressionAttributeNames: {
      ...Object.fromEntries(attributes.map(({ name, placeholder }) => [`#${placeholder}`, name])),
      ...condition?.names,
    },
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    ...(condition && { ConditionExpression: condition.expression }),
  };
}

/** Makes conditional writes. Returns false if a condition failed. */
export async function tryWrite(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/** Makes a conditional update. Returns false if the condition failed. */
export const tryUpdate = async (table: Table, update: Update): Promise<boolean> =>
  await tryWrite(async () => await table.update(update));

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
