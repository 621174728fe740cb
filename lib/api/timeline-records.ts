import * as v from 'valibot';
import { cursorParam, integerParam, NextCursor } from './paging.ts';
import { TransactionRecord } from './purchase-records.ts';
import { DateTime } from './schemas.ts';

const OptionalTexts = v.exactOptional(v.array(v.string()));

export const TimelineEvent = v.strictObject({
  type: v.literal('event'),
  date: DateTime,
  eventId: v.string(),
  eventType: v.string(),
  ok: v.boolean(),
  /** Why the request or job failed. */
  message: v.exactOptional(v.string()),
  applicationUsername: v.exactOptional(v.string()),
  /** Lifecycle reasons, or the reason of a webhook. */
  reasons: OptionalTexts,
  /** Type of a store notification in the store's terms. */
  notificationType: v.exactOptional(v.string()),
  productIds: OptionalTexts,
  purchaseIds: OptionalTexts,
  /** Set for an attempt of a webhook. */
  deliveryId: v.exactOptional(v.string()),
});
export const TimelinePayment = v.strictObject({
  type: v.literal('payment'),
  date: DateTime,
  transaction: TransactionRecord,
});
export const TimelineNotification = v.strictObject({
  type: v.literal('notification'),
  date: DateTime,
  reason: v.string(),
});
export const TimelineClaim = v.strictObject({
  type: v.literal('claim'),
  date: DateTime,
  applicationUsername: v.string(),
  source: v.picklist(['validation', 'alias', 'manual']),
});

/** Something that happened: an event of the service, a payment, a lifecycle notification or a claim. */
export const TimelineRecord = v.variant('type', [TimelineEvent, TimelinePayment, TimelineNotification, TimelineClaim]);
export type TimelineRecord = v.InferOutput<typeof TimelineRecord>;

export const timelineQuery = v.object({ limit: integerParam(1, 200), cursor: cursorParam });
export const timelineRows = { rows: v.array(TimelineRecord), nextCursor: NextCursor };
