import { isConflict, ServiceError } from './errors.ts';
import type { Key } from './key.ts';
import type { Item, Table, Update } from './table.ts';

/** A condition expression with its attribute names and values. */
interface UpdateCondition {
  readonly expression: string;
  readonly values?: Item;
  readonly names?: Readonly<Record<string, string>>;
}

interface VersionedItem {
  readonly version: number;
}

const maxAttempts = 10;

/** With full jitter, 40 concurrent writers of one item all succeed within half of these attempts. */
const maxWriteAttempts = 40;
const baseDelayMs = 20;

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

/**
 * Runs an optimistic write, which must read its input again on every call, until no other writer interferes. Retries a
 * `Conflict` with exponential backoff and full jitter. Throws the last `Conflict` after `attempts` attempts. The first
 * attempt has the number 1.
 */
export async function retryOnConflict<T>(
  run: (attempt: number) => Promise<T>,
  attempts: number = maxAttempts,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(attempt);
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
      await waitForOtherWriters(attempt);
    }
  }
}

/**
 * Runs an optimistic write until it returns a result, like `retryOnConflict`. `run` returns undefined if its condition
 * failed. Its errors are not retried, so that it can throw its own `Conflict`. Throws `Conflict` after 40 attempts.
 */
export async function retryUntilWritten<T extends object>(run: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 1; attempt <= maxWriteAttempts; attempt++) {
    const result = await run();
    if (result) return result;
    await waitForOtherWriters(attempt);
  }
  throw new ServiceError('Conflict', 'Other changes were made concurrently. Try again.');
}

const waitForOtherWriters = async (attempt: number): Promise<void> =>
  await new Promise((resolve) => setTimeout(resolve, Math.random() * baseDelayMs * 2 ** Math.min(attempt, 6)));

/** Builds the condition of a write that replaces a version of an item. Version 0: there is no item. */
export const buildVersionCondition = (version: number) =>
  version === 0
    ? { ConditionExpression: 'attribute_not_exists(pk)' }
    : { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': version } };
