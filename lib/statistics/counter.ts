import * as v from 'valibot';
import { hourMs } from '../shared/time.ts';
import { addCounts, type Counts } from './counts.ts';
import { type CountsChange, isLaterSequence } from './counts-change.ts';

/** The last record of a shard that a counter contains. */
const Checkpoint = v.object({ sequenceNumber: v.string(), writtenAt: v.number() });

/** The counts of a day or a month, with a checkpoint for each shard that it was counted from. */
export const Counter = v.object({
  counts: v.record(v.string(), v.number()),
  checkpoints: v.record(v.string(), Checkpoint),
  version: v.number(),
});
export type Counter = v.InferOutput<typeof Counter>;

export const emptyCounter: Counter = { counts: {}, checkpoints: {}, version: 0 };

/** The contribution of a change of counts to a single counter. */
export interface CountsIncrement extends Pick<CountsChange, 'sequenceNumber' | 'writtenAt'> {
  readonly counts: Counts;
}

/**
 * Longer than the 24 h for which the stream retains a record, so no record without a checkpoint is read again.
 * Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
 */
const checkpointTtlMs = 26 * hourMs;

/**
 * Adds the increments after the shard's checkpoint. Idempotent; returns undefined if the counter contains all of them.
 * A shard is read in order and repeats records only from the last successful batch on, so its checkpoint identifies
 * them.
 */
export function applyIncrements(
  counter: Counter,
  shardKey: string,
  increments: readonly CountsIncrement[],
): Counter | undefined {
  const checkpoint = counter.checkpoints[shardKey];
  const newIncrements = increments.filter(
    ({ sequenceNumber }) => !checkpoint || isLaterSequence(sequenceNumber, checkpoint.sequenceNumber),
  );
  const [first] = newIncrements;
  if (!first) return undefined;
  const last = newIncrements.reduce((a, b) => (isLaterSequence(b.sequenceNumber, a.sequenceNumber) ? b : a), first);
  const { sequenceNumber, writtenAt } = last;
  const unexpired = Object.entries(counter.checkpoints).filter(
    ([, { writtenAt: countedAt }]) => writtenAt - countedAt < checkpointTtlMs,
  );
  return {
    counts: newIncrements.reduce<Counts>((sum, { counts }) => addCounts(sum, counts), counter.counts),
    checkpoints: { ...Object.fromEntries(unexpired), [shardKey]: { sequenceNumber, writtenAt } },
    version: counter.version + 1,
  };
}
