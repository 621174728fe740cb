import { createHash } from 'node:crypto';
import * as v from 'valibot';

/** Order in which held notifications are sent. The same seed produces the same shuffle. */
export const ReleaseOrder = v.strictObject({
  order: v.optional(v.picklist(['as-held', 'reversed', 'shuffled']), 'as-held'),
  seed: v.optional(v.number(), 1),
});
export type ReleaseOrder = Readonly<v.InferOutput<typeof ReleaseOrder>>;

/** Sorts the items in the release order. */
export function sortForRelease<T>(items: readonly T[], { order, seed }: ReleaseOrder): readonly T[] {
  if (order === 'as-held') return items;
  if (order === 'reversed') return [...items].reverse();
  return items
    .map((item, index) => ({ item, rank: createHash('sha256').update(`${seed}/${index}`).digest('hex') }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ item }) => item);
}
