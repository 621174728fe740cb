import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { RenewalNotice } from '../purchases/renewal-notice.ts';
import type { EpochMillis } from '../shared/time.ts';

const endReasons: readonly NotificationReason[] = ['EXPIRED', 'REVOKED', 'PAUSED'];

/** Converts the reason of a notification. Undefined if it proves neither a renewal nor an end. */
export function toRenewalNotice(reason: NotificationReason, date: EpochMillis): RenewalNotice | undefined {
  if (reason === 'RENEWED') return { date };
  return endReasons.includes(reason) ? { date, isEnd: true } : undefined;
}
