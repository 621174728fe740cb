import { createHash } from 'node:crypto';
import * as v from 'valibot';

/** In which order held notifications are sent; the same seed shuffles the same way. */
export const ReleaseOrder = v.strictObject({
  order: v.optional(v.picklist(['as-held', 'reversed', 'shuffled']), 'as-held'),
  seed: v.optional(v.number(), 1),
});
export type ReleaseOrder = Readonly<v.InferOutput<typeof ReleaseOrder>>;

/** The items in that order. */
export function sortForRelease<T>(items: readonly T[], { order, seed }: ReleaseOrder): readonly T[] {
  if (order === 'as-held') return items;
  if (order === 'reversed') return [...items].reverse();
  return items
    .map((item, index) => ({ item, rank: createHash('sha256').update(`${seed}/${index}`).digest('hex') }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ item }) => item);
}
