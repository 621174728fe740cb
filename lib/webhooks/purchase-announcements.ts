import * as v from 'valibot';
import { unpackEventId } from '../foundation/event-id.ts';
import { parse } from '../foundation/parse.ts';
import type { ItemChange, ItemImage } from '../foundation/stream-record.ts';
import { type Announcement, buildAnnouncements, FirstOwnerVersion } from '../purchases/announcement.ts';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';

const AnnouncedPurchaseItem = v.object({
  version: v.number(),
  updatedAt: v.number(),
  entitledUsers: v.array(v.string()),
  announcedReasons: v.array(NotificationReason),
  /** Packed: most items stay below 1,024 bytes. */
  event: v.exactOptional(v.union([v.instance(Uint8Array), v.string()])),
  /** The only recipients. Absent in most items. */
  announcedUsers: v.exactOptional(v.array(v.string())),
  firstOwnerVersion: v.exactOptional(FirstOwnerVersion),
  purchase: v.object({
    purchaseId: v.string(),
    productId: v.string(),
    transactionId: v.string(),
    sandbox: v.exactOptional(v.boolean()),
  }),
});
const PreviousPurchaseItem = v.object({
  version: v.number(),
  entitledUsers: v.array(v.string()),
  purchase: v.object({ productId: v.string() }),
});

/** The announcements of one version of a purchase, with their recipients. */
export interface PurchaseAnnouncements {
  readonly appName: string;
  readonly announcements: readonly Announcement[];
  /**
   * Usernames. All entitled users, or those whose ownership changed if nothing else did. Includes the users that lost
   * the purchase with this version if it was read from a stream record.
   */
  readonly recipients: readonly string[];
  /** The event that records the change. */
  readonly eventId?: string;
  readonly purchase: v.InferOutput<typeof AnnouncedPurchaseItem>['purchase'];
  /** The product of the version before, if it is a different one. */
  readonly previousProductId?: string;
}

/** Returns undefined if the record is not a new version of a purchase, or if there is nothing to announce. */
export function readStreamRecord({ appName, kind, before, after }: ItemChange): PurchaseAnnouncements | undefined {
  if (kind !== 'purchase' || !after) return undefined;
  const { version, ...current } = readPurchaseItem(appName, after);
  const previous = before && parse(PreviousPurchaseItem, before, 'InternalError');
  if (version === previous?.version) return undefined;
  const recipients = current.announcedUsers ?? [
    ...new Set([...current.recipients, ...(previous?.entitledUsers ?? [])]),
  ];
  if (recipients.length === 0 || current.announcements.length === 0) return undefined;
  const previousProductId = previous?.purchase.productId;
  const isChanged = previousProductId !== undefined && previousProductId !== current.purchase.productId;
  return { ...current, recipients, ...(isChanged && { previousProductId }) };
}

/** Returns the announcements of the current version for the entitled users. */
export function readPurchaseItem(
  appName: string,
  item: ItemImage,
): PurchaseAnnouncements &
  Pick<v.InferOutput<typeof AnnouncedPurchaseItem>, 'version' | 'announcedUsers' | 'firstOwnerVersion'> {
  const stored = parse(AnnouncedPurchaseItem, item, 'InternalError');
  const { purchase, version, updatedAt, announcedReasons, announcedUsers, firstOwnerVersion, entitledUsers, event } =
    stored;
  const { purchaseId } = purchase;
  const announcements = buildAnnouncements({ appName, purchaseId, version, updatedAt }, announcedReasons);
  return {
    appName,
    announcements,
    recipients: entitledUsers,
    purchase,
    version,
    ...(event !== undefined && { eventId: unpackEventId(event) }),
    ...(announcedUsers && { announcedUsers }),
    ...(firstOwnerVersion && { firstOwnerVersion }),
  };
}
