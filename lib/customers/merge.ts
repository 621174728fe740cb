import * as v from 'valibot';
import { OptionalNumber } from '../api/schemas.ts';
import { toShortDigest } from '../foundation/key.ts';
import { Claim } from '../purchases/claims.ts';

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
  completedAt: OptionalNumber,
  reversedAt: OptionalNumber,
  reversedBy: v.exactOptional(MergingKey),
});
export type Merge = v.InferOutput<typeof Merge>;

/** A customer is merged once into another one: a repeated request continues the same merge. */
export const toMergeId = (from: string): string => `merge_${toShortDigest(from, 24)}`;

/** A moved claim in the log of a merge. It does not contain the name of the merged customer. */
export const LoggedClaim = v.object({
  mergeId: v.string(),
  movedAt: v.number(),
  purchaseId: v.string(),
  claim: v.exactOptional(v.omit(Claim, ['username'])),
  replaced: v.exactOptional(Claim),
  result: Claim,
});
