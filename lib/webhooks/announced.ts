import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import { imageItem } from '../db/stream-image.ts';
import { type Announcement, announcement } from '../notifications/announcement.ts';
import { NotificationReason } from '../notifications/reasons.ts';
import { parse } from '../parse.ts';

const Image = v.object({
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

/** What a new version of a purchase has the application's server told. */
export interface Announced {
  readonly app: string;
  readonly news: readonly Announcement[];
  /** Those entitled now and those who were until now. */
  readonly users: readonly string[];
  readonly purchase: v.InferOutput<typeof Image>['purchase'];
}

/** What a record of the table's stream announces; undefined for one that is no new version of a purchase. */
export function announcedBy({ eventName, dynamodb = {} }: DynamoDBRecord): Announced | undefined {
  const { Keys, NewImage, OldImage } = dynamodb;
  if (eventName === 'REMOVE' || Keys?.sk?.S !== 'P' || !NewImage) return undefined;
  const image = parse(Image, imageItem(NewImage), 'InternalError');
  const before = OldImage && parse(Before, imageItem(OldImage), 'InternalError');
  const { pk, purchase, version, updatedAt } = image;
  if (version === before?.version) return undefined;
  const app = pk.slice(0, pk.indexOf('#'));
  const users = [...new Set([...image.entitledUsers, ...(before?.entitledUsers ?? [])])];
  const { purchaseId } = purchase;
  const news = image.news.map((reason) => announcement({ app, purchaseId, version, updatedAt }, reason));
  return users.length > 0 && news.length > 0 ? { app, news, users, purchase } : undefined;
}
