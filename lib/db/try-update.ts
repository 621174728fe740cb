import { isConflict } from '../shared/errors.ts';
import type { Table, Update } from './table.ts';

/** Makes a conditional write. Returns false if the condition failed. */
export async function tryUpdate(table: Table, update: Update): Promise<boolean> {
  try {
    await table.update(update);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
