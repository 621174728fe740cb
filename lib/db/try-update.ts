import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import type { Table, Update } from './table.ts';

/** Makes the update; false when its condition did not hold. */
export async function tryUpdate(table: Table, update: Update): Promise<boolean> {
  try {
    await table.update(update);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === ('Conflict' satisfies ErrorCode)) return false;
    throw error;
  }
}
