import * as v from 'valibot';
import { Username } from './identifiers.ts';

/**
 * Clients that exist today post their whole product object: nulls, empty strings, numbers as text. A hint that cannot be
 * read counts as absent; only `id`, `type` and `transaction` are worth refusing a purchase for.
 */
const lenient = <const S extends v.GenericSchema>(schema: S) => v.fallback(v.optional(schema), undefined);

const LenientText = lenient(v.pipe(v.string(), v.minLength(1)));
const LenientNumber = lenient(
  v.union([v.pipe(v.number(), v.finite()), v.pipe(v.string(), v.trim(), v.decimal(), v.transform(Number))]),
);

/** What the client says a product costs: whole micros, not below nothing, and less than a billion units of any currency. */
const LenientMicros = lenient(
  v.pipe(LenientNumber, v.number(), v.transform(Math.round), v.minValue(0), v.maxValue(1e15)),
);

/** A user name as clients send it: numbers become text; null and the empty string are none. */
const OptionalUsername = v.union([
  v.pipe(
    v.nullish(v.literal('')),
    v.transform(() => undefined),
  ),
  v.pipe(v.union([v.string(), v.pipe(v.number(), v.transform(String))]), Username),
]);

export const ValidateReceiptBody = v.object({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  type: v.picklist(['application', 'paid subscription', 'non renewing subscription', 'consumable', 'non consumable']),
  transaction: v.looseObject({ type: v.string() }),
  additionalData: v.nullish(
    v.object({ applicationUsername: v.optional(OptionalUsername), obfuscatedUsername: lenient(Username) }),
  ),
  license: lenient(v.looseObject({ storeIdKey_collections: LenientText, storeIdKey_purchases: LenientText })),
  priceMicros: LenientMicros,
  currency: lenient(v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR'))),
  countryCode: LenientText,
  billingPeriod: LenientNumber,
  billingPeriodUnit: lenient(v.picklist(['Day', 'Week', 'Month', 'Year'])),
  products: lenient(v.array(v.unknown())),
});
export type ValidateReceiptBody = v.InferOutput<typeof ValidateReceiptBody>;
