import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { CreditTotals, CreditTotalsByName, creditTotalTexts } from '../api/credit-totals.ts';
import {
  type ApiPart,
  applicationUsername,
  describeObject,
  describeOperation,
  webhookPassword,
} from '../api/describe.ts';
import { cursorParam, DateOrDateTime, integerParam, NextCursor } from '../api/paging.ts';
import {
  CreditAmount,
  CreditName,
  DateTime,
  emptyAsAbsent,
  GrantingKey,
  nullableOptional,
  OptionalText,
  QueryFlag,
  Username,
} from '../api/schemas.ts';
import { creditEntryTypes } from './credit-entry.ts';

/*
 * Credits are an addition to the specification: an app without credits in its catalogue sees none of it.
 */

const params = v.object({ applicationUsername: Username });
const common = { area: 'credits', errorFormat: 'default', aliases: [], params } as const;
const query = { sandbox: QueryFlag };

const CreditLotRecord = v.strictObject({
  lotId: v.string(),
  origin: v.picklist(['payment', 'gift']),
  amount: v.number(),
  left: v.number(),
  givenAt: DateTime,
  expiresAt: v.nullable(DateTime),
});

const CreditHoldRecord = v.strictObject({ holdId: v.string(), amount: v.number(), until: DateTime });

const CreditRecord = v.strictObject({
  ...CreditTotals.entries,
  lots: v.array(CreditLotRecord),
  holds: v.array(CreditHoldRecord),
});
export type CreditRecord = v.InferOutput<typeof CreditRecord>;

const CustomerCredits = v.strictObject({
  applicationUsername: v.string(),
  isSandbox: v.boolean(),
  credits: v.record(v.string(), CreditRecord),
  asOf: DateTime,
});

export const getCustomerCredits = defineContract({
  ...common,
  id: 'get-customer-credits',
  summary: "Get a customer's credits",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/credits',
  keyLevel: 'public',
  eventType: 'credit.read',
  query: v.object({ ...query, accessToken: emptyAsAbsent(v.string()) }),
  response: CustomerCredits,
  // A request with an access token records the purchases of its checkout.
  writingParameter: 'accessToken',
  permissions: ['write', 'stores'],
  writes: ['purchases'],
});

const entry = {
  id: v.string(),
  type: v.picklist(creditEntryTypes),
  at: DateTime,
  credit: v.string(),
  amount: v.number(),
  balance: v.number(),
  expiresAt: v.exactOptional(DateTime),
  holdId: OptionalText,
  until: v.exactOptional(DateTime),
  reason: OptionalText,
  key: v.exactOptional(GrantingKey),
  transactionId: OptionalText,
  purchaseId: OptionalText,
} as const;
export const CreditEntryRecord = v.strictObject(entry);
export type CreditEntryRecord = v.InferOutput<typeof CreditEntryRecord>;
/** The changes that webhooks announce: all but those that the app's own server requests to spend. */
export const announcedEntryTypes = ['given', 'taken', 'expired', 'taken-back', 'returned', 'received', 'moved'];

/** An entry in a webhook. The account is of the sandbox or not. */
export const AnnouncedCreditEntry = v.strictObject({ isSandbox: v.boolean(), ...entry });
const CreditChange = v.strictObject({ applicationUsername: v.string(), isSandbox: v.boolean(), ...entry });

const idempotencyKey = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const reason = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(500));
const request = {
  credit: CreditName,
  amount: CreditAmount,
  idempotencyKey,
  sandbox: nullableOptional(v.boolean()),
} as const;

const change = {
  ...common,
  method: 'POST',
  keyLevel: 'secret',
  response: CreditChange,
  permissions: ['write'],
  writes: ['customers'],
} as const;

const SpendBody = v.object({
  ...request,
  reason: nullableOptional(reason),
  hold: nullableOptional(v.boolean()),
  until: nullableOptional(DateOrDateTime),
});

export const spendCredits = defineContract({
  ...change,
  id: 'spend-credits',
  summary: 'Spend credits of a customer, or hold them',
  path: '/v3/customers/:applicationUsername/credits/spend',
  eventType: 'credit.spent',
  body: SpendBody,
});

const GiveBody = v.object({ ...request, reason, until: nullableOptional(DateOrDateTime) });

export const giveCredits = defineContract({
  ...change,
  id: 'give-credits',
  summary: 'Give a customer credits without a payment',
  path: '/v3/customers/:applicationUsername/credits/give',
  additionalLevels: ['support'],
  eventType: 'credit.given',
  body: GiveBody,
});

const TakeBody = v.object({ ...request, reason });

export const takeCredits = defineContract({
  ...change,
  id: 'take-credits',
  summary: 'Take credits from a customer by hand',
  path: '/v3/customers/:applicationUsername/credits/take',
  additionalLevels: ['support'],
  eventType: 'credit.taken',
  body: TakeBody,
});

const HoldId = v.pipe(v.string(), v.regex(/^hold_[0-9a-f]{24}$/, 'the id of a hold'));
const holdParams = v.object({ ...params.entries, holdId: HoldId });
const CaptureBody = v.object({ amount: CreditAmount, sandbox: nullableOptional(v.boolean()) });
const ReleaseBody = v.object({ sandbox: nullableOptional(v.boolean()) });

export const captureCredits = defineContract({
  ...change,
  id: 'capture-credits',
  summary: 'Spend units of a hold, and release the others',
  path: '/v3/customers/:applicationUsername/credits/holds/:holdId/capture',
  eventType: 'credit.captured',
  params: holdParams,
  body: CaptureBody,
});

export const releaseCredits = defineContract({
  ...change,
  id: 'release-credits',
  summary: 'Release a hold',
  path: '/v3/customers/:applicationUsername/credits/holds/:holdId/release',
  eventType: 'credit.released',
  params: holdParams,
  body: ReleaseBody,
});

const CreditHistory = v.strictObject({
  applicationUsername: v.string(),
  rows: v.array(CreditEntryRecord),
  nextCursor: NextCursor,
});

export const listCreditHistory = defineContract({
  ...common,
  id: 'list-credit-history',
  summary: "List the changes of a customer's credits, latest first",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/credits/history',
  keyLevel: 'secret',
  eventType: 'credit.read',
  query: v.object({ ...query, limit: integerParam(1, 100), cursor: cursorParam }),
  response: CreditHistory,
  permissions: ['indexes'],
});

/** A webhook about a change of credits. `buildWebhookBody` creates the fields. */
export const CreditsUpdatedWebhook = v.strictObject({
  type: v.literal('credits.updated'),
  password: OptionalText,
  creditEntry: CreditEntryRecord,
  isSandbox: v.boolean(),
  credits: CreditTotalsByName,
  applicationUsername: v.string(),
});

const userText = { applicationUsername } as const;
const date = '2026-01-15T09:30:00.000Z';
const sandbox = ['`true`: the credits of purchases in the sandboxes, which are apart.', 'true'] as const;
const sandboxField = ['The credits of the sandbox change, which are apart. Default: false.', false] as const;
const credit = ['Name of the credit.', 'coins'] as const;
const holdId = ['Id of the hold.', 'hold_5f0c8a1b9d3e4f60718293a4'] as const;
const key = ['A repeated request with the same key has the same result.', 'order-4711'] as const;
const entryTexts = {
  id: ['Id of the change.', 'credit_5f0c8a1b9d3e4f60718293a4'],
  type: [
    '`given` by a payment or as a gift, `spent`, `held`, `captured` and `released` by the app, `taken` by hand, `expired` at their end, `taken-back` for a refund, `returned` when the refund was reversed, `received` from and `moved` to another customer.',
    'spent',
  ],
  at: ['Date of the change.', date],
  credit,
  amount: ['Number of units.', 40],
  balance: ['The balance after the change.', 60],
  expiresAt: ['End of given units. Absent without an end.', date],
  holdId: ['Id of the hold. Absent for other changes.', 'hold_5f0c8a1b9d3e4f60718293a4'],
  until: ['End of the hold, at which its units are free again.', date],
  reason: ['Why.', 'A song'],
  key: ['The API key of the request. Absent for payments and refunds.'],
  transactionId: ['The payment. Absent for other changes.', 'store_a:2000000123456789'],
  purchaseId: ['The purchase of the payment.', 'store_a:2000000123456789'],
} as const;
const requestTexts = {
  credit,
  amount: ['Number of units.', 40],
  idempotencyKey: key,
  sandbox: sandboxField,
  reason: ['Why, at most 500 characters.', 'A song'],
} as const;

const descriptions = [
  describeObject('CreditLot', CreditLotRecord, 'Units that were given at once and end at once.', {
    lotId: ['Id of the lot.', 'store_a:2000000123456789'],
    origin: ['A payment, or a gift by hand.', 'payment'],
    amount: ['Units that the lot had.', 100],
    left: ['Units that are left.', 60],
    givenAt: ['When they were given.', date],
    expiresAt: ['When they end. Null without an end.', date],
  }),
  describeObject('CreditHold', CreditHoldRecord, 'Reserved units.', {
    holdId,
    amount: ['Number of units.', 40],
    until: ['When they are free again, if the hold is not captured.', date],
  }),
  describeObject('Credit', CreditRecord, 'A credit of a customer.', {
    ...creditTotalTexts,
    lots: ['The lots with units that are left, in no order.'],
    holds: ['The open holds.'],
  }),
  describeObject('CustomerCredits', CustomerCredits, 'The credits of a customer.', {
    applicationUsername,
    isSandbox: ['They are the credits of the sandbox.', false],
    credits: ['The credits by name.'],
    asOf: ['Time of the response.', date],
  }),
  describeObject('CreditEntry', CreditEntryRecord, 'A change of credits.', entryTexts),
  describeObject('CreditsUpdatedWebhook', CreditsUpdatedWebhook, 'The credits of a customer have changed.', {
    type: ['The constant `credits.updated`.', 'credits.updated'],
    password: webhookPassword,
    creditEntry: ['The change.'],
    isSandbox: ['The credits of the sandbox have changed.', false],
    credits: ['The credits by name, at the time of the webhook.'],
    applicationUsername,
  }),
  describeObject('CreditChange', CreditChange, 'A change of the credits of a customer.', {
    applicationUsername,
    isSandbox: ['The credits of the sandbox have changed.', false],
    ...entryTexts,
  }),
  describeObject('SpendRequest', SpendBody, 'The units to spend.', {
    ...requestTexts,
    hold: ['The units are reserved only, until a capture or a release.', false],
    until: ['End of the hold, at most 30 days from now. Default: in an hour.', date],
  }),
  describeObject('GiveRequest', GiveBody, 'The units to give.', {
    ...requestTexts,
    until: ['End of the units. Absent: without an end.', date],
  }),
  describeObject('TakeRequest', TakeBody, 'The units to take.', requestTexts),
  describeObject('CaptureRequest', CaptureBody, 'The units of the hold to spend.', {
    amount: ['Number of units, at most the number that the hold reserves.', 30],
    sandbox: sandboxField,
  }),
  describeObject('ReleaseRequest', ReleaseBody, 'Which hold to release.', { sandbox: sandboxField }),
  describeObject('CreditHistory', CreditHistory, 'A page of changes.', {
    applicationUsername,
    rows: ['The changes, latest first.'],
    nextCursor: ['Cursor of the next page. Absent at the end.', 'MTc2ODQ2OTQwMDAwMCM'],
  }),
];

const insufficient = 'Responds with 409 and `balance` if the balance does not suffice.';

const operations = [
  describeOperation(getCustomerCredits, {
    description:
      'Returns what the customer has of each credit, with its lots. With the public key, the access token of a paid checkout of this customer is required.',
    params: userText,
    query: {
      sandbox,
      accessToken: [
        "The customer's access token from a checkout that was paid. Required with the public key.",
        'ak_mB7GxQ2ZrT5VnK8wL4sYp1Hc6Ud3Ef9J',
      ],
    },
  }),
  describeOperation(spendCredits, {
    description: `Spends units of the lots that end first, once for an \`idempotencyKey\`. ${insufficient} With \`hold\`, the units are reserved until a capture, a release or \`until\`.`,
    params: userText,
    errors: {
      409: [
        'The balance does not suffice. `balance` has it.',
        'The `idempotencyKey` was used for a different request.',
        'The customer has the maximum number of holds.',
      ],
    },
  }),
  describeOperation(giveCredits, {
    description: 'Gives units, once for an `idempotencyKey`. A support key is allowed.',
    params: userText,
    errors: { 409: ['The `idempotencyKey` was used for a different request.'] },
  }),
  describeOperation(takeCredits, {
    description: `Takes units, once for an \`idempotencyKey\`. ${insufficient} A support key is allowed.`,
    params: userText,
    errors: {
      409: [
        'The balance does not suffice. `balance` has it.',
        'The `idempotencyKey` was used for a different request.',
      ],
    },
  }),
  describeOperation(captureCredits, {
    description:
      'Ends a hold: `amount` of its units stay spent, and the others return. Repeat it with the same amount.',
    params: { ...userText, holdId },
    errors: { 404: ['The hold has ended, or does not exist.'] },
  }),
  describeOperation(releaseCredits, {
    description: 'Ends a hold, and all of its units return.',
    params: { ...userText, holdId },
    errors: { 404: ['The hold has ended, or does not exist.'] },
  }),
  describeOperation(listCreditHistory, {
    description: 'Lists why the credits of the customer have changed, for good.',
    params: userText,
    query: {
      sandbox,
      limit: ['Rows of a page, at most 100. Default: 50.', 50],
      cursor: ['`nextCursor` of the previous page.', 'MTc2ODQ2OTQwMDAwMCM'],
    },
  }),
];

export const creditApi: ApiPart = { descriptions, operations };
