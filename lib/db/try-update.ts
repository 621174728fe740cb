import { isConflict } from '../shared/errors.ts';
import type { Table, Update } from './table.ts';

/** Makes the update; false when its condition did not hold. */
export async function tryUpdate(table: Table, update: Update): Promise<boolean> {
  try {
    await table.update(update);
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}
