import * as v from 'valibot';

/** A problem that was announced, and the time at which it was last present. */
export const AnnouncedProblem = v.object({
  id: v.string(),
  tone: v.picklist(['warn', 'bad']),
  text: v.string(),
  /** Epoch milliseconds, as is `presentAt`. */
  startedAt: v.number(),
  presentAt: v.number(),
});
export type AnnouncedProblem = v.InferOutput<typeof AnnouncedProblem>;

/** The problems that the alert URL of an app has received, without those that have ended. */
export const AlertState = v.object({ url: v.string(), problems: v.array(AnnouncedProblem) });
export type AlertState = v.InferOutput<typeof AlertState>;
