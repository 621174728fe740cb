import { createHash } from 'node:crypto';
import type { EpochMillis } from '../shared/time.ts';
import type { NotificationReason } from './lifecycle-reasons.ts';

/** One thing that a version of a purchase announces to the application's server. */
export interface Announcement {
  /** 32 hexadecimal characters, the same however often the change is worked out. */
  readonly id: string;
  readonly reason: NotificationReason;
  readonly date: EpochMillis;
}

/** A version of a purchase, by which its announcements are known. */
export interface PurchaseVersion {
  readonly appName: string;
  readonly purchaseId: string;
  readonly version: number;
  readonly updatedAt: EpochMillis;
}

/** What a version announces for this reason. */
export function buildAnnouncement(
  { appName, purchaseId, version, updatedAt: date }: PurchaseVersion,
  reason: NotificationReason,
): Announcement {
  const name = `${appName}\n${purchaseId}\n${version}\n${reason}`;
  return { id: createHash('sha256').update(name).digest('hex').slice(0, 32), reason, date };
}
