import * as v from 'valibot';
import { OptionalBoolean } from '../api/schemas.ts';
import { toShortDigest } from '../foundation/key.ts';
import { Platform } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { NotificationReason } from './lifecycle-reasons.ts';

/** A reason that is reported to the app's server for one version of a purchase. */
export interface Announcement {
  /** 32 hexadecimal characters, derived from the version and the reason. */
  readonly id: string;
  readonly reason: NotificationReason;
  readonly date: EpochMillis;
}

/**
 * A stored announcement, which the timeline shows as a notification. Statistics count it by product, and those of
 * subscriptions and of the sandbox separately. A reader picks the attributes that it needs.
 */
export const NotificationItem = v.object({
  id: v.string(),
  date: v.number(),
  reason: NotificationReason,
  platform: Platform,
  productId: v.string(),
  isSubscription: OptionalBoolean,
  sandbox: OptionalBoolean,
});

/** A version of a purchase, which identifies its announcements. */
export interface PurchaseVersion {
  readonly appName: string;
  readonly purchaseId: string;
  readonly version: number;
  readonly updatedAt: EpochMillis;
}

/** The version that announced `PURCHASED` to the first owner of a purchase that was stored before without an owner. */
export const FirstOwnerVersion = v.object({ version: v.number(), updatedAt: v.number() });
export type FirstOwnerVersion = v.InferOutput<typeof FirstOwnerVersion>;

/**
 * Builds the announcements of a version. Deterministic: the same version and reasons have the same ids. A repeated
 * reason, such as two refunds in one observation, has an id for each repetition.
 */
export function buildAnnouncements(
  { appName, purchaseId, version, updatedAt: date }: PurchaseVersion,
  reasons: readonly NotificationReason[],
): Announcement[] {
  return reasons.map((reason, index) => {
    const repetition = reasons.slice(0, index).filter((earlier) => earlier === reason).length;
    const name = `${appName}\n${purchaseId}\n${version}\n${reason}${repetition > 0 ? `\n${repetition}` : ''}`;
    return { id: toShortDigest(name), reason, date };
  });
}
