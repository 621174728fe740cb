import * as v from 'valibot';
import { Username } from './identifiers.ts';
import { CurrencyCode, invalidAsAbsent } from './schemas.ts';

const LenientText = invalidAsAbsent(v.pipe(v.string(), v.minLength(1)));
const LenientNumber = invalidAsAbsent(
  v.union([v.pipe(v.number(), v.finite()), v.pipe(v.string(), v.trim(), v.decimal(), v.transform(Number))]),
);

/** Price from the client in micros, rounded; at most one billion units of the currency. */
const LenientMicros = invalidAsAbsent(
  v.pipe(LenientNumber, v.number(), v.transform(Math.round), v.minValue(0), v.maxValue(1e15)),
);

/** A username as clients send it. Numbers become strings; null and the empty string count as absent. */
const OptionalUsername = v.union([
  v.pipe(
    v.nullish(v.literal('')),
    v.transform(() => undefined),
  ),
  v.pipe(v.union([v.string(), v.pipe(v.number(), v.transform(String))]), Username),
]);

/**
 * Released clients send their whole product object, with nulls, empty strings and numbers as strings. Only an invalid
 * `id`, `type` or `transaction` rejects the request; other invalid fields count as absent.
 */
export const ValidateReceiptBody = v.object({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  type: v.picklist(['application', 'paid subscription', 'non renewing subscription', 'consumable', 'non consumable']),
  transaction: v.looseObject({ type: v.string() }),
  additionalData: v.nullish(
    v.object({ applicationUsername: v.optional(OptionalUsername), obfuscatedUsername: invalidAsAbsent(Username) }),
  ),
  license: invalidAsAbsent(v.looseObject({ storeIdKey_collections: LenientText, storeIdKey_purchases: LenientText })),
  priceMicros: LenientMicros,
  currency: invalidAsAbsent(CurrencyCode),
  countryCode: LenientText,
  billingPeriod: LenientNumber,
  billingPeriodUnit: invalidAsAbsent(v.picklist(['Day', 'Week', 'Month', 'Year'])),
  products: invalidAsAbsent(v.array(v.unknown())),
});
export type ValidateReceiptBody = v.InferOutput<typeof ValidateReceiptBody>;
