import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  cursorParameters,
  describeObject,
  describeOperation,
  describeValue,
  purchaseId,
} from '../api/describe.ts';
import { cursorParam, integerParam, NextCursor } from '../api/paging.ts';
import { DateTime, Id, OptionalDateTime, OptionalText } from '../api/schemas.ts';
import { TransactionRecord } from './transaction-contract.ts';

const OptionalTexts = v.exactOptional(v.array(v.string()));

export const TimelineEvent = v.strictObject({
  type: v.literal('event'),
  date: DateTime,
  eventId: v.string(),
  eventType: v.string(),
  ok: v.boolean(),
  /** Why the request or job failed. */
  message: OptionalText,
  applicationUsername: OptionalText,
  /** Lifecycle reasons, or the reason of a webhook. */
  reasons: OptionalTexts,
  /** Type of a store notification in the store's terms, or of a webhook. */
  notificationType: OptionalText,
  productIds: OptionalTexts,
  purchaseIds: OptionalTexts,
  /** Set for an attempt of a webhook. */
  deliveryId: OptionalText,
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

/** A change of the credits of a customer: its row of the history of credits. */
export const TimelineCredit = v.strictObject({
  type: v.literal('credit'),
  date: DateTime,
  id: v.string(),
  change: v.string(),
  credit: v.string(),
  amount: v.number(),
  balance: v.number(),
  isSandbox: v.boolean(),
  reason: OptionalText,
  purchaseId: OptionalText,
});

/** Something that happened: an event, a payment, a lifecycle notification, a claim or a change of credits. */
export const TimelineRecord = v.variant('type', [
  TimelineEvent,
  TimelinePayment,
  TimelineNotification,
  TimelineClaim,
  TimelineCredit,
]);
export type TimelineRecord = v.InferOutput<typeof TimelineRecord>;

export const timelineQuery = v.object({ limit: integerParam(1, 200), cursor: cursorParam });
export const timelineRows = { rows: v.array(TimelineRecord), nextCursor: NextCursor };

const PurchaseTimeline = v.strictObject({
  purchaseId: v.string(),
  /** Time on the store's clock up to which the stored state is complete. */
  asOf: DateTime,
  /** Last time at which the service received the state of the store. */
  checkedAt: DateTime,
  /** Last change of the purchase. */
  updatedAt: DateTime,
  createdAt: DateTime,
  /** Last scheduled or requested query of the store. */
  lastRefreshAt: OptionalDateTime,
  /** Failed refreshes since the last successful one. */
  failedRefreshes: v.number(),
  /** Absent if the purchase can change by clients and store notifications only. */
  nextRefreshAt: OptionalDateTime,
  canRefresh: v.boolean(),
  ...timelineRows,
});

// Spec: not shown. The history of a purchase, for support.
export const getPurchaseTimeline = defineContract({
  id: 'get-purchase-timeline',
  area: 'purchases',
  summary: 'List everything about a purchase by time',
  method: 'GET',
  path: '/v3/purchases/:purchaseId/timeline',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  query: timelineQuery,
  response: PurchaseTimeline,
  isLongRunning: true,
  permissions: [],
});
export const timelineTexts = {
  rows: ['The rows of the page, newest first.'],
  nextCursor: ['Cursor of the next page. Absent at the end of the list.', 'MTc2NzI2ODgwMDAwMCMwMUtEWFo4'],
} as const;

const descriptions = [
  describeObject(
    'TimelineEvent',
    TimelineEvent,
    'An event of the service: a request, a store notification or a webhook.',
    {
      type: ['The constant `event`.', 'event'],
      date: ['Date of the event.', '2026-01-15T09:30:05.000Z'],
      eventId: ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'],
      eventType: ['Type of the event.', 'receipt.validated'],
      ok: ['The request or job succeeded.', true],
      message: ['Why the request or job failed.', 'Transaction has expired or was cancelled.'],
      applicationUsername: ['The customer of the event.', 'alice'],
      reasons: ['Lifecycle reasons, or the reason of a webhook.', ['PURCHASED']],
      notificationType: ["Type of a store notification in the store's terms, or of a webhook.", 'DID_RENEW'],
      productIds: ['Products of the event, with platform prefix.', ['store_a:premium']],
      purchaseIds: ['Purchases of the event, with platform prefix.', ['store_a:2000000123456789']],
      deliveryId: ['Webhook delivery, for an attempt of a webhook.', '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e'],
    },
  ),
  describeObject('TimelinePayment', TimelinePayment, 'A payment.', {
    type: ['The constant `payment`.', 'payment'],
    date: ['Date of the payment.', '2026-02-15T09:30:00.000Z'],
    transaction: ['The transaction.'],
  }),
  describeObject('TimelineNotification', TimelineNotification, 'A change in the lifecycle of a purchase.', {
    type: ['The constant `notification`.', 'notification'],
    date: ['Date of the change.', '2026-02-15T09:30:00.000Z'],
    reason: ['Kind of the change.', 'RENEWED'],
  }),
  describeObject('TimelineClaim', TimelineClaim, 'A claim of a customer.', {
    type: ['The constant `claim`.', 'claim'],
    date: ['Date of the claim.', '2026-01-15T09:30:05.000Z'],
    applicationUsername: ['The customer.', 'alice'],
    source: ['Source of the claim, as in the owners of a purchase.', 'validation'],
  }),
  describeObject('TimelineCredit', TimelineCredit, 'A change of the credits of a customer.', {
    type: ['The constant `credit`.', 'credit'],
    date: ['Date of the change.', '2026-01-15T09:30:05.000Z'],
    id: ['Id of the change.', 'credit_5f0c8a1b9d3e4f60718293a4'],
    change: ['`type` of the change in the history of credits.', 'spent'],
    credit: ['Name of the credit.', 'coins'],
    amount: ['Number of units.', 40],
    balance: ['The balance after the change.', 60],
    isSandbox: ['The credits of the sandbox have changed.', false],
    reason: ['Why.', 'A song'],
    purchaseId: ['The purchase of the payment. Absent for other changes.', 'store_a:2000000123456789'],
  }),
  describeValue(
    'TimelineRecord',
    TimelineRecord,
    'Something that happened: an event, a payment, a lifecycle notification, a claim or a change of credits.',
  ),
  describeObject(
    'PurchaseTimeline',
    PurchaseTimeline,
    'A page of the history of a purchase, and the state of its refreshes.',
    {
      ...timelineTexts,
      purchaseId: purchaseId,
      asOf: ["Time on the store's clock up to which the stored state is complete.", '2026-02-15T09:30:00.000Z'],
      checkedAt: ['Last time at which the service received the state of the store.', '2026-02-15T09:30:05.000Z'],
      updatedAt: ['Last change of the purchase.', '2026-02-15T09:30:05.000Z'],
      createdAt: ['Date at which the service recorded the purchase.', '2026-01-15T09:30:05.000Z'],
      lastRefreshAt: ['Last scheduled or requested query of the store.', '2026-02-15T09:30:05.000Z'],
      failedRefreshes: ['Failed refreshes since the last successful one.', 0],
      nextRefreshAt: [
        'Date of the next refresh. Absent if only clients and store notifications can change the purchase.',
        '2026-03-15T09:31:00.000Z',
      ],
      canRefresh: ['The service can query the store for the purchase again.', true],
    },
  ),
];

const operations = [
  describeOperation(getPurchaseTimeline, {
    description: 'Lists lifecycle notifications, payments, claims and events of a purchase, newest first, for support.',
    params: { purchaseId },
    query: cursorParameters,
    errors: { 404: ['The purchase is not found.'] },
  }),
];

export const timelineApi: ApiPart = { descriptions, operations };
