import * as v from 'valibot';
import { addTally, type Tally } from './tally.ts';
import { isLaterSequence, type TallyChange } from './tally-change.ts';

/** Up to where a shard of the stream has been counted. */
const Checkpoint = v.object({ sequenceNumber: v.string(), writtenAt: v.number() });

/** The item of a day or a month: its sums, and what of the stream is in them. */
export const Counter = v.object({
  tally: v.record(v.string(), v.number()),
  checkpoints: v.record(v.string(), Checkpoint),
  version: v.number(),
});
export type Counter = v.InferOutput<typeof Counter>;

export const emptyCounter: Counter = { tally: {}, checkpoints: {}, version: 0 };

/** A part of a fact: what one day, or one month, gets of it. */
export interface TallyIncrement extends Pick<TallyChange, 'sequenceNumber' | 'writtenAt'> {
  readonly tally: Tally;
}

/** A stream keeps its records for a day, so nothing older than this is ever handed out again. */
const checkpointTtlMs = 26 * 60 * 60 * 1000;

/**
 * The counter with what it does not have yet of a shard's records; undefined when it has them all. A shard hands records
 * out in order, again and in other portions after a failure, but never past what it has handed out: so the last number that
 * was counted tells which are new.
 */
export function applyIncrements(
  counter: Counter,
  shard: string,
  portions: readonly TallyIncrement[],
): Counter | undefined {
  const mark = counter.checkpoints[shard];
  const newIncrements = portions.filter(
    ({ sequenceNumber }) => !mark || isLaterSequence(sequenceNumber, mark.sequenceNumber),
  );
  const [first] = newIncrements;
  if (!first) return undefined;
  const last = newIncrements.reduce((a, b) => (isLaterSequence(b.sequenceNumber, a.sequenceNumber) ? b : a), first);
  const { sequenceNumber, writtenAt } = last;
  const kept = Object.entries(counter.checkpoints).filter(([, { writtenAt: at }]) => writtenAt - at < checkpointTtlMs);
  return {
    tally: newIncrements.reduce<Tally>((sum, { tally }) => addTally(sum, tally), counter.tally),
    checkpoints: { ...Object.fromEntries(kept), [shard]: { sequenceNumber, writtenAt } },
    version: counter.version + 1,
  };
}
