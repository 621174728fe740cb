import * as v from 'valibot';
import { OptionalText } from '../api/schemas.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { Claim } from '../purchases/claims.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { Transaction } from '../purchases/transaction.ts';
import type { EventRecord } from './event.ts';

/** The members of a change of credits that a timeline shows. */
export const TimelineCreditEntry = v.object({
  entryId: v.string(),
  at: v.number(),
  type: v.string(),
  credit: v.string(),
  amount: v.number(),
  balance: v.number(),
  isSandbox: v.boolean(),
  reason: OptionalText,
  purchaseId: OptionalText,
});
export type TimelineCreditEntry = v.InferOutput<typeof TimelineCreditEntry>;

/** Something that happened to a customer or to a purchase. */
export type TimelineRow =
  | { readonly type: 'event'; readonly event: EventRecord }
  | { readonly type: 'payment'; readonly transaction: Transaction }
  | { readonly type: 'notification'; readonly date: EpochMillis; readonly reason: NotificationReason }
  | { readonly type: 'claim'; readonly claim: Claim }
  | { readonly type: 'credit'; readonly entry: TimelineCreditEntry };
