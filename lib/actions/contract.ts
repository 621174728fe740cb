import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation, purchaseId } from '../api/describe.ts';
import { actionNames, DateTime, emptyAsAbsent, GrantingKey, Id, nullableOptional } from '../api/schemas.ts';
import { PurchaseDetails } from '../purchases/purchase-contract.ts';

/*
 * Actions are an addition to the specification: what support does with a purchase at its store.
 */

const common = {
  area: 'purchases',
  keyLevel: 'secret',
  errorFormat: 'default',
  path: '/v3/purchases/:purchaseId/actions',
  aliases: [],
  params: v.object({ purchaseId: Id }),
} as const;

const ActionName = v.picklist(actionNames);

/** The payment that a refund returns. */
const RefundablePayment = v.strictObject({
  transactionId: v.string(),
  /** What is left of the payment. Null if the store does not report the amount. */
  amountMicros: v.nullable(v.number()),
  currency: v.nullable(v.string()),
  allowsPart: v.boolean(),
});

export const PurchaseAction = v.strictObject({
  action: ActionName,
  isPossible: v.boolean(),
  /** Why the action is not possible. */
  why: v.nullable(v.string()),
  /** What happens at the store. */
  effect: v.nullable(v.string()),
  maxDays: v.exactOptional(v.number()),
  payment: v.exactOptional(RefundablePayment),
});
export type PurchaseAction = v.InferOutput<typeof PurchaseAction>;

/** The store's response to an action, in the store's terms. */
const StoreAnswerRecord = v.strictObject({
  status: v.string(),
  id: v.exactOptional(v.string()),
  amountMicros: v.exactOptional(v.number()),
  currency: v.exactOptional(v.string()),
  until: v.exactOptional(DateTime),
});

const PurchaseActions = v.strictObject({ purchaseId: v.string(), rows: v.array(PurchaseAction) });

export const listPurchaseActions = defineContract({
  ...common,
  id: 'list-purchase-actions',
  summary: 'List the actions that are possible for a purchase',
  method: 'GET',
  eventType: 'action.read',
  query: v.object({ transactionId: emptyAsAbsent(Id) }),
  response: PurchaseActions,
  permissions: [],
});

const maxDays = 366;
const IdempotencyKey = v.pipe(v.string(), v.maxLength(200));

/** The documented request. */
const PurchaseActionRequest = v.object({
  action: ActionName,
  reason: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(500)),
  idempotencyKey: IdempotencyKey,
  dryRun: nullableOptional(v.boolean()),
  transactionId: nullableOptional(Id),
  amountMicros: nullableOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  quantity: nullableOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  days: nullableOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxDays))),
  account: nullableOptional(v.pipe(v.string(), v.maxLength(200))),
});

const PurchaseActionResult = v.strictObject({
  purchaseId: v.string(),
  action: ActionName,
  reason: v.string(),
  dryRun: v.boolean(),
  effect: v.string(),
  /** Null for a dry run. */
  performedAt: v.nullable(DateTime),
  performedBy: v.nullable(GrantingKey),
  storeAnswer: v.nullable(StoreAnswerRecord),
  isConfirmed: v.nullable(v.boolean()),
  /** The purchase as the store reports it afterwards. */
  purchase: PurchaseDetails,
});

export const actOnPurchase = defineContract({
  ...common,
  id: 'act-on-purchase',
  summary: 'Refund, cancel, revoke, extend or finish a purchase',
  method: 'POST',
  eventType: 'purchase.acted',
  additionalLevels: ['support'],
  // Existing clients omit the key in a dry run, which does not need it.
  body: v.object({ ...PurchaseActionRequest.entries, idempotencyKey: nullableOptional(IdempotencyKey) }),
  response: PurchaseActionResult,
  permissions: ['write', 'stores'],
  writes: ['purchases', 'operations'],
});

const transactionId = [
  'Payment to refund. The default is the latest one that can be refunded.',
  'store_b:GPA.3345',
] as const;
const reason = ['Why support does it.', 'Charged twice, ticket 4711'] as const;
const currency = ['ISO 4217 code of the currency.', 'EUR'] as const;

const descriptions = [
  describeObject('RefundablePayment', RefundablePayment, 'The payment that a refund returns.', {
    transactionId: ['Id of the payment with its platform prefix.', 'processor_a:in_1QfVQa'],
    amountMicros: ['What is left of the payment. Null if the store does not report the amount.', 4_990_000],
    currency,
    allowsPart: ['The store refunds a part of it.', true],
  }),
  describeObject('PurchaseAction', PurchaseAction, 'An action on a purchase, and why it is not possible.', {
    action: ['Name of the action. `defer` and `extend` are the same.', 'refund'],
    isPossible: ['The store performs the action in the stored state.', true],
    why: ['Why the action is not possible. Null if it is.', null as never],
    effect: [
      'What happens at the store. Null if the action is not possible.',
      'The subscription ends with its paid period.',
    ],
    maxDays: ['Maximum number of days of an extension.', 90],
    payment: ['The payment of a refund.'],
  }),
  describeObject('PurchaseActions', PurchaseActions, 'The actions on a purchase.', {
    purchaseId,
    rows: ['All actions.'],
  }),
  describeObject('StoreAnswer', StoreAnswerRecord, "The store's response to an action.", {
    status: ["Result in the store's terms.", 'succeeded'],
    id: ['Id of the refund, or of the refunded order.', 're_1QfVQa'],
    amountMicros: ['Refunded amount.', 4_990_000],
    currency,
    until: ['New end of the paid period.', '2026-02-15T09:30:00.000Z'],
  }),
  describeObject('PurchaseActionRequest', PurchaseActionRequest, 'An action on a purchase.', {
    action: ['Name of the action.', 'refund'],
    reason,
    idempotencyKey: [
      'Key of the request: a repeated request with it returns the first outcome. A dry run ignores it.',
      'ticket-4711',
    ],
    dryRun: ['Check the action only.', false],
    transactionId,
    amountMicros: ['Amount to refund. The default is all that is left of the payment.', 1_000_000],
    quantity: ['Number of items to refund.', 1],
    days: ['Number of days of an extension.', 7],
    account: ['The username, or its form at the store.', 'alice'],
  }),
  describeObject('PurchaseActionResult', PurchaseActionResult, 'The outcome of an action.', {
    purchaseId,
    action: ['Name of the action.', 'refund'],
    reason,
    dryRun: ['The action was only checked.', false],
    effect: ['What happens at the store.', 'The subscription ends with its paid period.'],
    performedAt: ['Date of the action. Null for a dry run.', '2026-01-15T09:30:00.000Z'],
    performedBy: ['The key that performed it. Null for a dry run.'],
    storeAnswer: ["The store's response. Null if it was lost, and in a dry run that the store does not check."],
    isConfirmed: [
      "Whether the store's state, read afterwards, shows the effect. False: the next refresh reads it again. Null if the " +
        'store does not report it.',
      true,
    ],
    purchase: ['The purchase as the store reports it afterwards.'],
  }),
];

const operations = [
  describeOperation(listPurchaseActions, {
    description:
      'Lists for each action whether the store performs it for the purchase in its stored state, and why not. Does not call ' +
      'the store.',
    params: { purchaseId },
    query: { transactionId },
    errors: { 404: ['The purchase is not found.'] },
  }),
  describeOperation(actOnPurchase, {
    description:
      "Performs an action at the store, and reads the store's state before and after it. The same `idempotencyKey` again " +
      'returns the first outcome, and the store performs the action once. `dryRun` checks the action only. 409 if the ' +
      'action is not possible or the store rejects it; 502 if the store is unavailable: repeat it with the same key. A ' +
      'support key may do what `app set-support-actions` allows. `account` is the username, or its form at the store.',
    params: { purchaseId },
    body: PurchaseActionRequest,
    bodyExamples: {
      refund: {
        summary: 'Refund a part of the latest payment',
        value: { action: 'refund', amountMicros: 1_000_000, reason: 'Late delivery', idempotencyKey: 'ticket-4711' },
      },
      extend: {
        summary: 'Extend a subscription by a week',
        value: { action: 'extend', days: 7, reason: 'Outage of Monday', idempotencyKey: 'outage-alice' },
      },
    },
    errors: {
      404: ['The purchase is not found.', '`transactionId` is not a payment of the purchase.'],
      409: [
        'The action is not possible, or the store rejects it.',
        'The `idempotencyKey` was used for a different action.',
      ],
    },
  }),
];

export const actionApi: ApiPart = { descriptions, operations };
