import type { Merge } from '../customers/merge.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { type EpochMillis, toIso } from '../foundation/time.ts';

/** Returns the record of a merge for exports and the command line, with ISO 8601 dates. */
export const toMergeRecord = ({ mergeId, from, startedAt, mergedBy, completedAt, reversedAt, reversedBy }: Merge) => ({
  mergeId,
  from,
  startedAt: toIso(startedAt),
  mergedBy,
  ...omitUndefined({ completedAt: toOptionalIso(completedAt), reversedAt: toOptionalIso(reversedAt), reversedBy }),
});

const toOptionalIso = (date: EpochMillis | undefined): string | undefined =>
  date === undefined ? undefined : toIso(date);
