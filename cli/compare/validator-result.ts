import * as v from 'valibot';
import type { EpochMillis } from '../../lib/foundation/time.ts';
import { parsePlatform } from '../../lib/foundation/vocabulary.ts';

/** The state of a purchase as a validator reports it. Ids are without prefix. */
export interface OwnedState {
  readonly productId: string;
  readonly purchaseId: string | undefined;
  readonly transactionId: string | undefined;
  readonly purchaseDate: EpochMillis | undefined;
  readonly isOwned: boolean;
  readonly expiryDate: EpochMillis | undefined;
  /** Undefined if the purchase is not canceled. */
  readonly cancelationReason: string | undefined;
  readonly isTrialPeriod: boolean;
  readonly isIntroPeriod: boolean;
  readonly isConsumed: boolean;
}

/** The result of a validation, or the purchases of a customer, in a form that two validators share. */
export interface ValidatorResult {
  readonly isOk: boolean;
  readonly reason?: string;
  readonly productId?: string;
  readonly purchases: readonly OwnedState[];
  /** Set if the purchases have ownership and expiration only. */
  readonly hasStatesOnly?: true;
  /** Sentence of a validator that could not query the store. */
  readonly warning?: string;
}

const MaybeText = v.fallback(v.optional(v.string()), undefined);
const MaybeFlag = v.fallback(v.optional(v.boolean()), undefined);
const DateValue = v.fallback(
  v.optional(v.union([v.number(), v.pipe(v.string(), v.isoTimestamp(), v.transform(Date.parse))])),
  undefined,
);
const StateFields = v.object({
  purchaseId: MaybeText,
  transactionId: MaybeText,
  purchaseDate: DateValue,
  isExpired: MaybeFlag,
  cancelationReason: MaybeText,
  isTrialPeriod: MaybeFlag,
  isIntroPeriod: MaybeFlag,
  isConsumed: MaybeFlag,
});

/** The response of `POST /v1/validate`. Released validators differ in the fields that they leave out. */
export const ValidationResponse = v.object({
  ok: v.boolean(),
  code: v.fallback(v.optional(v.union([v.string(), v.number()])), undefined),
  message: MaybeText,
  data: v.fallback(
    v.optional(
      v.object({
        id: MaybeText,
        warning: MaybeText,
        collection: v.optional(
          v.array(v.object({ id: v.string(), expiryDate: DateValue, ...StateFields.entries })),
          [],
        ),
      }),
    ),
    undefined,
  ),
});
export type ValidationResponse = v.InferOutput<typeof ValidationResponse>;

/** The response of `GET /v3/customers/:applicationUsername/purchases`. */
export const CustomerPurchases = v.object({
  purchases: v.record(v.string(), v.object({ expirationDate: DateValue, ...StateFields.entries })),
});
export type CustomerPurchases = v.InferOutput<typeof CustomerPurchases>;

/** Removes the platform prefix in either vocabulary. An id of a product can contain other colons. */
export function omitPlatform(id: string): string {
  const colon = id.indexOf(':');
  return colon > 0 && parsePlatform(id.slice(0, colon)) ? id.slice(colon + 1) : id;
}

type StateFields = v.InferOutput<typeof StateFields>;

const toOwnedState = (
  fields: StateFields,
  { productId, expiryDate, now }: { productId: string; expiryDate: EpochMillis | undefined; now: EpochMillis },
): OwnedState => ({
  productId: omitPlatform(productId),
  purchaseId: fields.purchaseId === undefined ? undefined : omitPlatform(fields.purchaseId),
  transactionId: fields.transactionId === undefined ? undefined : omitPlatform(fields.transactionId),
  purchaseDate: fields.purchaseDate,
  isOwned: fields.isExpired !== true && (expiryDate === undefined || expiryDate > now),
  expiryDate,
  cancelationReason: fields.cancelationReason || undefined,
  isTrialPeriod: fields.isTrialPeriod === true,
  isIntroPeriod: fields.isIntroPeriod === true,
  isConsumed: fields.isConsumed === true,
});

export function fromValidationResponse({ ok, message, data }: ValidationResponse, now: EpochMillis): ValidatorResult {
  if (!ok) return { isOk: false, ...(message !== undefined && { reason: message }), purchases: [] };
  const { id, warning, collection = [] } = data ?? {};
  return {
    isOk: true,
    ...(id !== undefined && { productId: omitPlatform(id) }),
    ...(warning !== undefined && { warning }),
    purchases: collection.map(({ id: productId, expiryDate, ...fields }) =>
      toOwnedState(fields, { productId, expiryDate, now }),
    ),
  };
}

export const fromCustomerPurchases = ({ purchases }: CustomerPurchases, now: EpochMillis): ValidatorResult => ({
  isOk: true,
  purchases: Object.entries(purchases).map(([productId, { expirationDate, ...fields }]) =>
    toOwnedState(fields, { productId, expiryDate: expirationDate, now }),
  ),
});
