import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id, Username } from './identifiers.ts';
import { cursorParam, integerParam, NextCursor } from './paging.ts';
import { PlatformToken } from './purchase-records.ts';
import {
  ConsumptionPercentage,
  DeliveryStatus,
  RefundOutcome,
  RefundPreference,
  refundStatement,
} from './refund-statement.ts';
import { DateTime, emptyAsAbsent, nullableOptional } from './schemas.ts';

/*
 * Refund requests are an addition to the specification: requests of the App Store and of Google Play for a statement
 * about a refund, with a deadline.
 */

const common = { area: 'refunds', keyLevel: 'secret', errorFormat: 'default', aliases: [] } as const;
const params = v.object({ id: Id });

/** The statement that follows from the stored facts, and why. */
export const PreparedAnswerRecord = v.strictObject({ ...refundStatement, why: v.array(v.string()) });

/** The statement that the app sent, or its policy. */
export const RefundAnswerRecord = v.strictObject({
  ...refundStatement,
  answeredAt: DateTime,
  answeredBy: v.strictObject({
    type: v.picklist(['key', 'policy']),
    id: v.exactOptional(v.string()),
    name: v.exactOptional(v.string()),
  }),
  /** Null until the store has accepted it. */
  sentAt: v.nullable(DateTime),
  failureReason: v.exactOptional(v.string()),
});

/** What the service stores about the payment and its customer. */
export const RefundFactsRecord = v.strictObject({
  isDelivered: v.boolean(),
  isConsumed: v.boolean(),
  customerSince: v.nullable(DateTime),
  purchaseCount: v.number(),
  paidUSD: v.number(),
  refundedUSD: v.number(),
  consentedAt: v.nullable(DateTime),
});

/** A store's request for a statement about a refund. */
export const RefundRequestRecord = v.strictObject({
  id: v.string(),
  platform: PlatformToken,
  purchaseId: v.string(),
  transactionId: v.string(),
  productId: v.nullable(v.string()),
  applicationUsername: v.nullable(v.string()),
  state: v.picklist(['open', 'answered', 'expired']),
  reason: v.string(),
  isSandbox: v.boolean(),
  requestedAt: DateTime,
  deadline: DateTime,
  facts: RefundFactsRecord,
  /** Null if no statement is possible any longer. */
  preparedAnswer: v.nullable(PreparedAnswerRecord),
  answer: v.nullable(RefundAnswerRecord),
  /** The last statement that the store rejected. */
  rejection: v.exactOptional(v.strictObject({ at: DateTime, message: v.string() })),
  outcome: v.nullable(RefundOutcome),
  outcomeAt: v.nullable(DateTime),
});
export type RefundRequestRecord = v.InferOutput<typeof RefundRequestRecord>;

export const listRefundRequests = defineContract({
  ...common,
  id: 'list-refund-requests',
  summary: "List the stores' requests for statements about refunds, newest first",
  method: 'GET',
  path: '/v3/refund-requests',
  eventType: 'refund.read',
  query: v.object({
    state: emptyAsAbsent(v.picklist(['open', 'answered', 'expired'])),
    limit: integerParam(1, 100),
    cursor: cursorParam,
  }),
  response: v.strictObject({ rows: v.array(RefundRequestRecord), nextCursor: NextCursor }),
  permissions: ['indexes'],
});

export const getRefundRequest = defineContract({
  ...common,
  id: 'get-refund-request',
  summary: 'Get a refund request with the prepared statement',
  method: 'GET',
  path: '/v3/refund-requests/:id',
  eventType: 'refund.read',
  params,
  response: RefundRequestRecord,
  permissions: [],
});

export const answerRefundRequest = defineContract({
  ...common,
  id: 'answer-refund-request',
  summary: 'Send the statement about a refund to the store. The first one counts',
  method: 'POST',
  path: '/v3/refund-requests/:id/answer',
  eventType: 'refund.answered',
  additionalLevels: ['support'],
  params,
  body: v.object({
    preference: RefundPreference,
    isProrated: nullableOptional(v.boolean()),
    customerConsented: nullableOptional(v.boolean()),
    deliveryStatus: nullableOptional(DeliveryStatus),
    sampleContentProvided: nullableOptional(v.boolean()),
    consumptionPercentage: nullableOptional(ConsumptionPercentage),
  }),
  response: RefundRequestRecord,
  permissions: ['write', 'stores'],
});

export const setRefundConsent = defineContract({
  ...common,
  id: 'set-refund-consent',
  summary: 'Store whether a customer consents to statements about refunds',
  method: 'PUT',
  path: '/v3/customers/:applicationUsername/refund-consent',
  eventType: 'refund.consent',
  params: v.object({ applicationUsername: Username }),
  body: v.object({ consented: v.boolean() }),
  response: v.strictObject({ applicationUsername: v.string(), consentedAt: v.nullable(DateTime) }),
  permissions: ['write'],
});
