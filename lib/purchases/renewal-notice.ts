import * as v from 'valibot';

/** What a verified store notification proves while the store cannot be queried. */
export const RenewalNotice = v.object({
  /** Time of the notification on the store's clock, in epoch milliseconds. */
  date: v.number(),
  /** The subscription has ended. Otherwise, it has renewed. */
  isEnd: v.exactOptional(v.literal(true)),
});
export type RenewalNotice = v.InferOutput<typeof RenewalNotice>;

/** Chooses the later announcement. An end takes precedence over a renewal at the same time. */
export function chooseLaterNotice(a?: RenewalNotice, b?: RenewalNotice): RenewalNotice | undefined {
  if (!a || !b) return a ?? b;
  return (a.date - b.date || Number(a.isEnd ?? false) - Number(b.isEnd ?? false)) >= 0 ? a : b;
}
