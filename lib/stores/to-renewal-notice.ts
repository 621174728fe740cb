import type { EpochMillis } from '../foundation/time.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { RenewalNotice } from '../purchases/purchase.ts';

const endReasons: readonly NotificationReason[] = ['EXPIRED', 'REVOKED', 'PAUSED'];

/** Converts the reason of a notification. Undefined if it proves neither a renewal nor an end. */
export function toRenewalNotice(reason: NotificationReason, date: EpochMillis): RenewalNotice | undefined {
  if (reason === 'RENEWED') return { date };
  return endReasons.includes(reason) ? { date, isEnd: true } : undefined;
}
