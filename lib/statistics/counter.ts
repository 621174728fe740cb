import * as v from 'valibot';
import { OptionalBoolean, OptionalNumber } from '../api/schemas.ts';
import { hourMs } from '../foundation/time.ts';
import { addCounts, type Counts } from './counts.ts';
import { type CountsChange, isLaterSequence } from './counts-change.ts';

/** The last record of a shard that a counter contains. */
export const Checkpoint = v.object({ sequenceNumber: v.string(), writtenAt: v.number() });
export type Checkpoint = v.InferOutput<typeof Checkpoint>;

/** A checkpoint in a separate item, with the number of the part that has counted the shard. Absent: 0. */
export const SavedCheckpoint = v.object({ ...Checkpoint.entries, part: OptionalNumber });
export type SavedCheckpoint = v.InferOutput<typeof SavedCheckpoint>;

/** A part of the counts of a day or a month, with the checkpoints of the shards that it was counted from last. */
export const Counter = v.object({
  counts: v.record(v.string(), v.number()),
  checkpoints: v.record(v.string(), Checkpoint),
  version: v.number(),
  /** Only set in part 0, if there are other parts. */
  isSplit: OptionalBoolean,
});
export type Counter = v.InferOutput<typeof Counter>;

export const emptyCounter: Counter = { counts: {}, checkpoints: {}, version: 0 };

/** The contribution of a change of counts to a single counter. */
export interface CountsIncrement extends Pick<CountsChange, 'sequenceNumber' | 'writtenAt'> {
  readonly counts: Counts;
}

/**
 * Longer than the 24 h for which the stream retains a record, so no record without a checkpoint is read again.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
 */
export const checkpointTtlMs = 26 * hourMs;

/**
 * Maximum number of checkpoints in a counter. The checkpoints of other shards are separate items, so that a
 * counter does not grow with the stream: 800 shards have 5,600 checkpoints in 26 hours.
 */
export const maxCheckpoints = 16;

/** A counter after an update, and the checkpoints to save before it is written. */
interface CounterUpdate {
  readonly counter: Counter;
  /** Checkpoints by shard that the counter contained before. */
  readonly evicted: readonly (readonly [shardKey: string, checkpoint: Checkpoint])[];
}

/**
 * Adds the increments after the shard's checkpoint: the one in the counter, or `saved` without one. Idempotent;
 * returns undefined if the counter contains all of them. A shard is read in order and repeats records only from the
 * last successful batch on, so its checkpoint identifies them.
 */
export function applyIncrements(
  counter: Counter,
  { shardKey, saved }: { readonly shardKey: string; readonly saved?: Checkpoint | undefined },
  increments: readonly CountsIncrement[],
): CounterUpdate | undefined {
  const checkpoint = counter.checkpoints[shardKey] ?? saved;
  const newIncrements = increments.filter(
    ({ sequenceNumber }) => !checkpoint || isLaterSequence(sequenceNumber, checkpoint.sequenceNumber),
  );
  const [first] = newIncrements;
  if (!first) return undefined;
  const last = newIncrements.reduce((a, b) => (isLaterSequence(b.sequenceNumber, a.sequenceNumber) ? b : a), first);
  const { sequenceNumber, writtenAt } = last;
  const others = Object.entries(counter.checkpoints)
    .filter(([key, { writtenAt: countedAt }]) => key !== shardKey && writtenAt - countedAt < checkpointTtlMs)
    .sort(([, a], [, b]) => b.writtenAt - a.writtenAt);
  const kept = others.slice(0, maxCheckpoints - 1);
  return {
    counter: {
      counts: newIncrements.reduce<Counts>((sum, { counts }) => addCounts(sum, counts), counter.counts),
      checkpoints: { ...Object.fromEntries(kept), [shardKey]: { sequenceNumber, writtenAt } },
      version: counter.version + 1,
    },
    evicted: others.slice(kept.length),
  };
}
