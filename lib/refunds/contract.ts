import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  applicationUsername,
  describeObject,
  describeOperation,
  describeValue,
  webhookPassword,
} from '../api/describe.ts';
import { cursorParam, integerParam, NextCursor } from '../api/paging.ts';
import { DateTime, emptyAsAbsent, Id, nullableOptional, PlatformToken, Username } from '../api/schemas.ts';
import {
  ConsumptionPercentage,
  DeliveryStatus,
  RefundOutcome,
  RefundPreference,
  refundStatement,
} from '../stores/refund-request.ts';

/*
 * The refund desk is an addition to the specification: the App Store and Google Play request a statement about a
 * refund, with a deadline. The build leaves the descriptions out of the functions, because no function uses them.
 */

const common = { area: 'refunds', keyLevel: 'secret', errorFormat: 'default', aliases: [] } as const;
const params = v.object({ id: Id });

const idText = ['Id of the refund request.', 'refund_5f0c8a1b9d3e4f6071829304_0001'] as const;
const date = '2026-01-15T09:30:00.000Z';

const statementTexts = {
  preference: ['What the app prefers: a refund (`approve`), none (`decline`), or neither (`neutral`).', 'decline'],
  isProrated: ['store_a: limits an approved refund to the unused part.', false],
  customerConsented: ['The customer consented to the statement. store_a accepts none without consent.', true],
  deliveryStatus: ['store_a: whether the app delivered a product that works.', 'DELIVERED'],
  sampleContentProvided: ['The customer had a free sample or a trial before the purchase.', false],
  consumptionPercentage: ['Used part of the purchase, in thousandths of a percent.', 100_000],
} as const;

const PreparedAnswerRecord = v.strictObject({ ...refundStatement, why: v.array(v.string()) });

const RefundAnswerAuthor = v.strictObject({
  type: v.picklist(['key', 'policy']),
  id: v.exactOptional(v.string()),
  name: v.exactOptional(v.string()),
});

const RefundAnswerRecord = v.strictObject({
  ...refundStatement,
  answeredAt: DateTime,
  answeredBy: RefundAnswerAuthor,
  sentAt: v.nullable(DateTime),
  failureReason: v.exactOptional(v.string()),
});

const RefundFactsRecord = v.strictObject({
  isDelivered: v.boolean(),
  isConsumed: v.boolean(),
  customerSince: v.nullable(DateTime),
  purchaseCount: v.number(),
  paidUSD: v.number(),
  refundedUSD: v.number(),
  consentedAt: v.nullable(DateTime),
});

const RefundRejection = v.strictObject({ at: DateTime, message: v.string() });

const ids = { id: v.string(), platform: PlatformToken, purchaseId: v.string(), transactionId: v.string() };
const times = { requestedAt: DateTime, deadline: DateTime };
const announcedTexts = {
  id: idText,
  platform: ['The store.', 'store_a'],
  purchaseId: ['The purchase.', 'store_a:2000000123456789'],
  transactionId: ['The payment to refund.', 'store_a:2000000123456789'],
  reason: ["Reason in the store's terms.", 'UNINTENDED_PURCHASE'],
  requestedAt: ['Date of the request.', date],
  deadline: ['Time until which the store accepts the statement.', '2026-01-15T21:30:00.000Z'],
} as const;

export const RefundRequestRecord = v.strictObject({
  ...ids,
  productId: v.nullable(v.string()),
  applicationUsername: v.nullable(v.string()),
  state: v.picklist(['open', 'answered', 'expired']),
  reason: v.string(),
  isSandbox: v.boolean(),
  ...times,
  facts: RefundFactsRecord,
  preparedAnswer: v.nullable(PreparedAnswerRecord),
  answer: v.nullable(RefundAnswerRecord),
  rejection: v.exactOptional(RefundRejection),
  outcome: v.nullable(RefundOutcome),
  outcomeAt: v.nullable(DateTime),
});
export type RefundRequestRecord = v.InferOutput<typeof RefundRequestRecord>;

const RefundRequests = v.strictObject({ rows: v.array(RefundRequestRecord), nextCursor: NextCursor });

export const listRefundRequests = defineContract({
  ...common,
  id: 'list-refund-requests',
  summary: 'List the requests for statements about refunds',
  method: 'GET',
  path: '/v3/refund-requests',
  eventType: 'refund.read',
  query: v.object({
    state: emptyAsAbsent(v.picklist(['open', 'answered', 'expired'])),
    limit: integerParam(1, 100),
    cursor: cursorParam,
  }),
  response: RefundRequests,
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

const RefundAnswerBody = v.object({
  preference: RefundPreference,
  isProrated: nullableOptional(v.boolean()),
  customerConsented: nullableOptional(v.boolean()),
  deliveryStatus: nullableOptional(DeliveryStatus),
  sampleContentProvided: nullableOptional(v.boolean()),
  consumptionPercentage: nullableOptional(ConsumptionPercentage),
});

export const answerRefundRequest = defineContract({
  ...common,
  id: 'answer-refund-request',
  summary: 'Send the statement about a refund to the store',
  method: 'POST',
  path: '/v3/refund-requests/:id/answer',
  eventType: 'refund.answered',
  additionalLevels: ['support'],
  params,
  body: RefundAnswerBody,
  response: RefundRequestRecord,
  permissions: ['write', 'stores'],
  writes: ['refundRequests'],
});

const RefundConsentBody = v.object({ consented: v.boolean() });
const RefundConsent = v.strictObject({ applicationUsername: v.string(), consentedAt: v.nullable(DateTime) });

export const setRefundConsent = defineContract({
  ...common,
  id: 'set-refund-consent',
  summary: 'Store whether a customer consents to statements about refunds',
  method: 'PUT',
  path: '/v3/customers/:applicationUsername/refund-consent',
  eventType: 'refund.consent',
  params: v.object({ applicationUsername: Username }),
  body: RefundConsentBody,
  response: RefundConsent,
  permissions: ['write'],
  writes: ['customers'],
});

const AnnouncedRefundRequest = v.strictObject({ ...ids, reason: v.string(), ...times });

/** A webhook to the app's server about a refund request. `buildWebhookBody` creates the fields. */
export const RefundRequestedWebhook = v.strictObject({
  type: v.literal('refund.requested'),
  password: v.exactOptional(v.string()),
  refundRequest: AnnouncedRefundRequest,
  applicationUsername: v.exactOptional(v.string()),
});

const descriptions = [
  describeValue('RefundOutcome', RefundOutcome, "The store's decision about a refund.", 'refunded'),
  describeObject('PreparedAnswer', PreparedAnswerRecord, 'The statement that follows from the stored facts.', {
    ...statementTexts,
    why: ['The facts that it follows from.', ['The purchase is consumed.']],
  }),
  describeObject('RefundAnswer', RefundAnswerRecord, 'The first statement, which the store receives.', {
    ...statementTexts,
    answeredAt: ['Date of the statement.', date],
    answeredBy: ['The API key that sent it, or the policy of the app.'],
    sentAt: ['When the store accepted it. Null until then.', date],
    failureReason: ['Why the last attempt to send it failed.', 'The App Store is unavailable. Try again later.'],
  }),
  describeObject('RefundAnswerAuthor', RefundAnswerAuthor, 'The author of a statement.', {
    type: ['An API key (`key`) or the policy of the app (`policy`).', 'key'],
    id: ['Id of the key.', '0f110b8bbde7'],
    name: ['Name of the key.', 'alice-support'],
  }),
  describeObject('RefundFacts', RefundFactsRecord, 'The stored facts about a payment and its customer.', {
    isDelivered: ['A customer has validated the purchase.', true],
    isConsumed: ['The purchase is consumed.', true],
    customerSince: ["Date of the customer's first payment. Null without a payment.", date],
    purchaseCount: ['Purchases of the customer.', 3],
    paidUSD: ['Sum of the payments in US dollars.', 14.97, 'decimal'],
    refundedUSD: ['Sum of the refunds in US dollars.', 0, 'decimal'],
    consentedAt: ['When the customer consented to statements about refunds. Null without consent.', date],
  }),
  describeObject('RefundRejection', RefundRejection, 'A statement that was rejected.', {
    at: ['Date of the rejection.', date],
    message: ['Why.', 'The App Store rejected the consumption information (error 4000036).'],
  }),
  describeObject('RefundRequest', RefundRequestRecord, "A store's request for a statement about a refund.", {
    ...announcedTexts,
    productId: ['The product. Null if it is not stored.', 'store_a:coins'],
    applicationUsername: ['The customer. Null for a purchase that no customer has claimed.', 'alice'],
    state: [
      '`open`: a statement is possible. `answered`: it was made. `expired`: none was made before the deadline or the decision.',
      'open',
    ],
    isSandbox: ["Whether the purchase is of the store's sandbox.", false],
    facts: ['What the service stores about it.'],
    preparedAnswer: ['The statement that the policy `answer` sends. Null if none is possible any longer.'],
    answer: ['The first statement, which the store receives. Null without one.'],
    rejection: ['The last statement that the store rejected. Another one can be sent.'],
    outcome: ["The store's decision. Null until it is reported. Google Play reports only refunds."],
    outcomeAt: ['Date of the decision.', date],
  }),
  describeObject('AnnouncedRefundRequest', AnnouncedRefundRequest, 'A refund request in a webhook.', announcedTexts),
  describeObject('RefundRequestedWebhook', RefundRequestedWebhook, 'A new refund request.', {
    type: ['The constant `refund.requested`.', 'refund.requested'],
    password: webhookPassword,
    refundRequest: ['The request, without the facts of the service.'],
    applicationUsername: ['The customer. Absent if no customer has claimed the purchase.', 'alice'],
  }),
  describeObject('RefundRequests', RefundRequests, 'A page of refund requests.', {
    rows: ['The requests, newest first.'],
    nextCursor: ['Cursor of the next page. Absent at the end.', 'MTc2ODQ2OTQwMDAwMCM'],
  }),
  describeObject('RefundAnswerRequest', RefundAnswerBody, 'The statement to send.', {
    ...statementTexts,
    isProrated: ['store_a: limits an approved refund to the unused part. Default: false.', false],
    customerConsented: ['Required to be true for store_a. Default: the stored consent of the customer.', true],
    deliveryStatus: ['store_a. Default: from the prepared statement.', 'DELIVERED'],
    sampleContentProvided: ['Default: from the prepared statement.', false],
    consumptionPercentage: ['Thousandths of a percent. Default: from the prepared statement.', 100_000],
  }),
  describeObject('RefundConsentRequest', RefundConsentBody, 'The choice of the customer.', {
    consented: ['The customer consents to statements about refunds. False withdraws it.', true],
  }),
  describeObject('RefundConsent', RefundConsent, 'The stored consent.', {
    applicationUsername,
    consentedAt: ['When the customer consented. Null without consent.', date],
  }),
];

const operations = [
  describeOperation(listRefundRequests, {
    description:
      'Lists the requests of the App Store (consumption requests, 12 hours) and of Google Play (chargeback reviews, 24 hours) for a statement about a refund.',
    query: {
      state: ['Only requests in this state.', 'open'],
      limit: ['Maximum number of rows, at most 100. Default: 50.', 20],
      cursor: ['The `nextCursor` of the previous page.', 'MTc2ODQ2OTQwMDAwMCM'],
    },
  }),
  describeOperation(getRefundRequest, {
    description: 'Returns the request with the stored facts and the statement that follows from them.',
    params: { id: idText },
    errors: { 404: ['The refund request is not found.'] },
  }),
  describeOperation(answerRefundRequest, {
    description:
      'Sends the statement to the store. Stores accept only the first one: another one is rejected with 409 and the first one in `answer`. While the store is unavailable, the statement is sent again until the deadline. After a statement that the store rejects, another one can be sent. A support key is allowed.',
    params: { id: idText },
    errors: {
      404: ['The refund request is not found.'],
      409: ['The refund request has a statement already.', 'The store has decided, or the deadline has passed.'],
    },
  }),
  describeOperation(setRefundConsent, {
    description:
      'Stores whether the customer consents to statements about refunds. The App Store accepts statements only with consent, so the policy `answer` sends none without it.',
    params: { applicationUsername },
  }),
];

export const refundRequestApi: ApiPart = { descriptions, operations };
