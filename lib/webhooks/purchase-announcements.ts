import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import { unmarshallImage } from '../db/stream-image.ts';
import type { Item } from '../db/table.ts';
import { type Announcement, buildAnnouncement } from '../purchases/announcement.ts';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import { parse } from '../shared/parse.ts';

const PurchaseItem = v.object({
  pk: v.string(),
  version: v.number(),
  updatedAt: v.number(),
  entitledUsers: v.array(v.string()),
  announcedReasons: v.array(NotificationReason),
  purchase: v.object({
    purchaseId: v.string(),
    productId: v.string(),
    transactionId: v.string(),
    sandbox: v.exactOptional(v.boolean()),
  }),
});
const PreviousPurchaseItem = v.object({ version: v.number(), entitledUsers: v.array(v.string()) });

/** What a version of a purchase has the application's server told. */
export interface PurchaseAnnouncements {
  readonly appName: string;
  readonly announcements: readonly Announcement[];
  /** Those entitled now, and in the stream those who were until now. */
  readonly recipients: readonly string[];
  readonly purchase: v.InferOutput<typeof PurchaseItem>['purchase'];
}

/** What a record of the table's stream announces; undefined for one that is no new version of a purchase. */
export function readStreamRecord({ eventName, dynamodb = {} }: DynamoDBRecord): PurchaseAnnouncements | undefined {
  const { Keys, NewImage, OldImage } = dynamodb;
  if (eventName === 'REMOVE' || Keys?.sk?.S !== 'P' || !NewImage) return undefined;
  const { version, ...announced } = readPurchaseItem(unmarshallImage(NewImage));
  const before = OldImage && parse(PreviousPurchaseItem, unmarshallImage(OldImage), 'InternalError');
  if (version === before?.version) return undefined;
  const recipients = [...new Set([...announced.recipients, ...(before?.entitledUsers ?? [])])];
  return recipients.length > 0 && announced.announcements.length > 0 ? { ...announced, recipients } : undefined;
}

/** What the version of a purchase announces that its item holds, to those entitled by it. */
export function readPurchaseItem(item: Item): PurchaseAnnouncements & { readonly version: number } {
  const { pk, purchase, version, updatedAt, ...stored } = parse(PurchaseItem, item, 'InternalError');
  const appName = pk.slice(0, pk.indexOf('#'));
  const { purchaseId } = purchase;
  const announcements = stored.announcedReasons.map((reason) =>
    buildAnnouncement({ appName, purchaseId, version, updatedAt }, reason),
  );
  return { appName, announcements, recipients: stored.entitledUsers, purchase, version };
}
