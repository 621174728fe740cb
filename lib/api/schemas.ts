import * as v from 'valibot';
import { describeFormat } from './describe.ts';

/** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const DateTime = v.pipe(v.string(), v.isoTimestamp());

/** An optional query parameter. Clients send an empty string for a value that they do not have. */
export const emptyAsAbsent = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => (text === '' ? undefined : text)),
      v.optional(schema),
    ),
  );

/** An optional query parameter that is `true` or `false`. */
export const QueryFlag = emptyAsAbsent(v.picklist(['true', 'false']));

/** An optional field of a body. Clients send null or an empty string for a value that they do not have. */
export const nullableOptional = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.nullable(v.literal('')),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

/** An optional field that must not fail the request: an invalid value counts as absent. */
export const invalidAsAbsent = <const S extends v.GenericSchema>(schema: S) =>
  v.fallback(v.optional(schema), undefined);

/** An ISO 4217 code in any case, converted to upper case. */
export const CurrencyCode = v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR'));

export const OptionalBoolean = v.exactOptional(v.boolean());
export const OptionalText = v.exactOptional(v.string());
export const OptionalDateTime = v.exactOptional(DateTime);
export const OptionalNumber = v.exactOptional(v.number());

export const formatDescriptions = [
  describeFormat(DateTime, '2026-01-15T09:30:00.000Z', { type: 'string', format: 'date-time' }),
  describeFormat(CurrencyCode, 'EUR', { type: 'string', pattern: '^[A-Za-z]{3}$' }),
];
