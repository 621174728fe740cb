import type { EpochMillis } from '../foundation/time.ts';
import type { Claim } from '../purchases/claims.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { Transaction } from '../purchases/transaction.ts';
import type { EventRecord } from './event.ts';

/** Something that happened to a customer or to a purchase. */
export type TimelineRow =
  | { readonly type: 'event'; readonly event: EventRecord }
  | { readonly type: 'payment'; readonly transaction: Transaction }
  | { readonly type: 'notification'; readonly date: EpochMillis; readonly reason: NotificationReason }
  | { readonly type: 'claim'; readonly claim: Claim };
