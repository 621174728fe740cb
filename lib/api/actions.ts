import * as v from 'valibot';
import { actionNames } from '../foundation/action-names.ts';
import { defineContract } from './contract.ts';
import { GrantingKey, Id } from './identifiers.ts';
import { PurchaseDetails } from './purchase-records.ts';
import { DateTime, emptyAsAbsent, nullableOptional } from './schemas.ts';

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
export const RefundablePayment = v.strictObject({
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
export const StoreAnswerRecord = v.strictObject({
  status: v.string(),
  id: v.exactOptional(v.string()),
  amountMicros: v.exactOptional(v.number()),
  currency: v.exactOptional(v.string()),
  until: v.exactOptional(DateTime),
});

export const listPurchaseActions = defineContract({
  ...common,
  id: 'list-purchase-actions',
  summary: 'List what is possible for a purchase at its store, and why the rest is not',
  method: 'GET',
  eventType: 'action.read',
  query: v.object({ transactionId: emptyAsAbsent(Id) }),
  response: v.strictObject({ purchaseId: v.string(), rows: v.array(PurchaseAction) }),
  permissions: [],
});

const maxDays = 366;
const IdempotencyKey = v.pipe(v.string(), v.maxLength(200));

/** The documented request. */
export const PurchaseActionRequest = v.object({
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

export const actOnPurchase = defineContract({
  ...common,
  id: 'act-on-purchase',
  summary: 'Refund, cancel, revoke, extend or finish a purchase at its store, or set its account',
  method: 'POST',
  eventType: 'purchase.acted',
  additionalLevels: ['support'],
  // Existing clients omit the key in a dry run, which does not need it.
  body: v.object({ ...PurchaseActionRequest.entries, idempotencyKey: nullableOptional(IdempotencyKey) }),
  response: v.strictObject({
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
  }),
  permissions: ['write', 'stores'],
});
