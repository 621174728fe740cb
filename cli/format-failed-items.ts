import type { FailedItem } from '../lib/foundation/failed-items.ts';
import { formatCount } from './format.ts';

/** Formats the items that a run could not process, one on each line. */
export const formatFailedItems = (failed: readonly FailedItem[]): string[] =>
  failed.length > 0
    ? [`${formatCount(failed.length, 'item')} failed:`, ...failed.map(({ item, problem }) => `${item}: ${problem}`)]
    : [];
