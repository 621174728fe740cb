import { isConflict } from './errors.ts';
import type { Table, Update } from './table.ts';

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
