import * as v from 'valibot';
import { Claim, type MovedClaim } from '../purchases/claims.ts';

const MergingKey = v.object({ id: v.string(), name: v.string() });

/** Claims, aliases and grants of a customer that were moved to another one. Times in epoch milliseconds. */
export const Merge = v.object({
  mergeId: v.string(),
  /** The customer who has lost them. */
  from: v.string(),
  /** The customer who has received them. */
  to: v.string(),
  startedAt: v.number(),
  mergedBy: MergingKey,
  /** The aliases that the merge moves, normalized. */
  aliases: v.array(v.string()),
  /** When everything was moved. Absent while the merge is incomplete. */
  completedAt: v.exactOptional(v.number()),
  reversedAt: v.exactOptional(v.number()),
  reversedBy: v.exactOptional(MergingKey),
});
export type Merge = v.InferOutput<typeof Merge>;

/** A moved claim in the log of a merge. It does not contain the name of the merged customer. */
export const LoggedClaim = v.object({
  mergeId: v.string(),
  movedAt: v.number(),
  purchaseId: v.string(),
  claim: v.exactOptional(v.omit(Claim, ['username'])),
  replaced: v.exactOptional(Claim),
  result: Claim,
});

/** The log of merges of all apps. */
export interface MergeRepository {
  find(appName: string, to: string, mergeId: string): Promise<Merge | undefined>;
  /** Lists the merges into a customer. */
  list(appName: string, to: string): Promise<Merge[]>;
  /** Lists the merges of a customer into other ones. Eventually consistent. */
  listByMerged(appName: string, from: string): Promise<Merge[]>;
  save(appName: string, merge: Merge): Promise<void>;
  /** Lists the moved claims of a merge, latest first, at most `limit`. */
  listMovedClaims(
    appName: string,
    merge: Merge,
    limit: number,
  ): Promise<readonly (MovedClaim & { readonly purchaseId: string })[]>;
  deleteMovedClaim(appName: string, merge: Merge, moved: MovedClaim & { readonly purchaseId: string }): Promise<void>;
  /**
   * Moves an alias from one customer to the other. Does not change an alias that identifies a third customer.
   * Idempotent.
   */
  moveAlias(appName: string, alias: string, merge: Pick<Merge, 'from' | 'to'>): Promise<void>;
  /** Reverts `moveAlias`. Does not change an alias that was saved again since. Idempotent. */
  returnAlias(appName: string, alias: string, merge: Pick<Merge, 'from' | 'to'>): Promise<void>;
}
