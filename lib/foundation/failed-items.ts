import { isPermanent } from './errors.ts';
import { catchFailure, type LogContext } from './log.ts';

/** An item that a run over all items could not process, such as a purchase that is not readable. */
export interface FailedItem {
  /** An id or a key, never a value. */
  readonly item: string;
  readonly problem: string;
}

/** Runs the work of one item. Returns undefined if the item failed. */
export type Attempt = <T>(item: string, process: () => Promise<T>) => Promise<T | undefined>;

/** Throws the error of the first item that fails. */
export const requireAll: Attempt = async (_item, process) => await process();

/**
 * Creates the list of the items that a run could not process, and a function that processes an item. An item that fails
 * is logged and listed, and must not end the run, which would end at the same item when it is repeated. A temporary
 * failure of the database is thrown.
 */
export function attemptItems(context: LogContext) {
  const failed: FailedItem[] = [];
  const attempt: Attempt = async <T>(item: string, process: () => Promise<T>) => {
    let result: T | undefined;
    const failure = await catchFailure(context, async () => {
      result = await process();
    });
    if (failure?.code === 'DatabaseError' && !isPermanent(failure)) throw failure;
    if (failure) failed.push({ item, problem: failure.message });
    return result;
  };
  return { failed, attempt };
}
