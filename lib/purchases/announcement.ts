import { createHash } from 'node:crypto';
import type { EpochMillis } from '../shared/time.ts';
import type { NotificationReason } from './lifecycle-reasons.ts';

/** A reason that is reported to the app's server for one version of a purchase. */
export interface Announcement {
  /** 32 hexadecimal characters, derived from the version and the reason. */
  readonly id: string;
  readonly reason: NotificationReason;
  readonly date: EpochMillis;
}

/** A version of a purchase, which identifies its announcements. */
export interface PurchaseVersion {
  readonly appName: string;
  readonly purchaseId: string;
  readonly version: number;
  readonly updatedAt: EpochMillis;
}

/** Builds the announcement of a reason. Deterministic: the same version and reason have the same id. */
export function buildAnnouncement(
  { appName, purchaseId, version, updatedAt: date }: PurchaseVersion,
  reason: NotificationReason,
): Announcement {
  const name = `${appName}\n${purchaseId}\n${version}\n${reason}`;
  return { id: createHash('sha256').update(name).digest('hex').slice(0, 32), reason, date };
}
