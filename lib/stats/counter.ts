import * as v from 'valibot';
import { type Fact, isLater } from './facts.ts';
import { added, type Tally } from './tally.ts';

/** Up to where a shard of the stream has been counted. */
const Mark = v.object({ sequenceNumber: v.string(), writtenAt: v.number() });

/** The item of a day or a month: its sums, and what of the stream is in them. */
export const Counter = v.object({
  tally: v.record(v.string(), v.number()),
  marks: v.record(v.string(), Mark),
  version: v.number(),
});
export type Counter = v.InferOutput<typeof Counter>;

export const emptyCounter: Counter = { tally: {}, marks: {}, version: 0 };

/** A part of a fact: what one day, or one month, gets of it. */
export interface Portion extends Pick<Fact, 'sequenceNumber' | 'writtenAt'> {
  readonly tally: Tally;
}

/** A stream keeps its records for a day, so nothing older than this is ever handed out again. */
const marksLiveMs = 26 * 60 * 60 * 1000;

/**
 * The counter with what it does not have yet of a shard's records; undefined when it has them all. A shard hands records
 * out in order, again and in other portions after a failure, but never past what it has handed out: so the last number that
 * was counted tells which are new.
 */
export function counted(counter: Counter, shard: string, portions: readonly Portion[]): Counter | undefined {
  const mark = counter.marks[shard];
  const fresh = portions.filter(({ sequenceNumber }) => !mark || isLater(sequenceNumber, mark.sequenceNumber));
  const [first] = fresh;
  if (!first) return undefined;
  const last = fresh.reduce((a, b) => (isLater(b.sequenceNumber, a.sequenceNumber) ? b : a), first);
  const { sequenceNumber, writtenAt } = last;
  const kept = Object.entries(counter.marks).filter(([, { writtenAt: at }]) => writtenAt - at < marksLiveMs);
  return {
    tally: fresh.reduce<Tally>((sum, { tally }) => added(sum, tally), counter.tally),
    marks: { ...Object.fromEntries(kept), [shard]: { sequenceNumber, writtenAt } },
    version: counter.version + 1,
  };
}
