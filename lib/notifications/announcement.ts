import * as v from 'valibot';
import { NotificationReason } from './reasons.ts';

/** One thing that a version of a purchase announces to the application's server. */
export const Announcement = v.object({
  /** 32 hexadecimal characters, the same however often the change is worked out. */
  id: v.string(),
  reason: NotificationReason,
  /** Epoch milliseconds. */
  date: v.number(),
});
export type Announcement = v.InferOutput<typeof Announcement>;
