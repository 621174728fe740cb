import * as v from 'valibot';

/**
 * 1 to 900 bytes of well-formed Unicode. The text is part of a sort key, which DynamoDB limits to 1,024 bytes.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const KeyText = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxBytes(900),
  v.regex(/^\P{Surrogate}*$/u, 'well-formed Unicode'),
);

/** A customer's `applicationUsername`. All characters are allowed. */
export const Username = KeyText;

/** Id of a purchase, transaction, event or event tag, in a path or body. */
export const Id = KeyText;

/** Name of what an app sells access to, for example `premium`. */
export const EntitlementName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
);

/** Name of a credit that an app sells or gives, for example `coins`. Names that JavaScript reserves are refused. */
export const CreditName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
  v.check((name) => !(name in Object.prototype), 'another name: this one is reserved'),
);

/** Number of units of a credit: whole, from 1. */
export const CreditAmount = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000));

/** The API key that made or changed something. */
export const GrantingKey = v.strictObject({ id: v.string(), name: v.string() });
