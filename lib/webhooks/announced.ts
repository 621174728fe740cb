import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import { imageItem } from '../db/stream-image.ts';
import type { Item } from '../db/table.ts';
import { type Announcement, announcement } from '../notifications/announcement.ts';
import { NotificationReason } from '../notifications/reasons.ts';
import { parse } from '../parse.ts';

const Stored = v.object({
  pk: v.string(),
  version: v.number(),
  updatedAt: v.number(),
  entitledUsers: v.array(v.string()),
  news: v.array(NotificationReason),
  purchase: v.object({
    purchaseId: v.string(),
    productId: v.string(),
    transactionId: v.string(),
    sandbox: v.exactOptional(v.boolean()),
  }),
});
const Before = v.object({ version: v.number(), entitledUsers: v.array(v.string()) });

/** What a version of a purchase has the application's server told. */
export interface Announced {
  readonly app: string;
  readonly news: readonly Announcement[];
  /** Those entitled now, and in the stream those who were until now. */
  readonly users: readonly string[];
  readonly purchase: v.InferOutput<typeof Stored>['purchase'];
}

/** What a record of the table's stream announces; undefined for one that is no new version of a purchase. */
export function announcedBy({ eventName, dynamodb = {} }: DynamoDBRecord): Announced | undefined {
  const { Keys, NewImage, OldImage } = dynamodb;
  if (eventName === 'REMOVE' || Keys?.sk?.S !== 'P' || !NewImage) return undefined;
  const { version, ...announced } = versionIn(imageItem(NewImage));
  const before = OldImage && parse(Before, imageItem(OldImage), 'InternalError');
  if (version === before?.version) return undefined;
  const users = [...new Set([...announced.users, ...(before?.entitledUsers ?? [])])];
  return users.length > 0 && announced.news.length > 0 ? { ...announced, users } : undefined;
}

/** What the version of a purchase announces that its item holds, to those entitled by it. */
export function versionIn(item: Item): Announced & { readonly version: number } {
  const { pk, purchase, version, updatedAt, ...stored } = parse(Stored, item, 'InternalError');
  const app = pk.slice(0, pk.indexOf('#'));
  const { purchaseId } = purchase;
  const news = stored.news.map((reason) => announcement({ app, purchaseId, version, updatedAt }, reason));
  return { app, news, users: stored.entitledUsers, purchase, version };
}
