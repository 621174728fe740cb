import { createHash } from 'node:crypto';
import type { RawRow } from '../../lib/import/parse-import-row.ts';

/** Distinct rows of which an import keeps the digest: a repetition after more of them counts as a new row. */
const maxKept = 1_000_000;

/** The rows of a file so far, by their content. */
export interface SeenRows {
  /** Adds a row. Returns whether an earlier row has the same content. */
  add(raw: RawRow): boolean;
}

/** Creates an empty record of rows. Its size does not grow with the file: it drops the older half when it is full. */
export function createSeenRows(limit = maxKept): SeenRows {
  let [recent, older] = [new Set<number>(), new Set<number>()];
  return {
    add(raw) {
      const digest = computeDigest(raw);
      if (recent.has(digest) || older.has(digest)) return true;
      recent.add(digest);
      if (recent.size >= limit / 2) [recent, older] = [new Set(), recent];
      return false;
    },
  };
}

/** Returns 48 bits of the digest, which a number holds. A collision changes a count only. */
const computeDigest = (raw: RawRow): number =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(raw)))
    .digest()
    .readUIntBE(0, 6);
