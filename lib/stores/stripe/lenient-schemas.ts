import * as v from 'valibot';

/**
 * Accepts every value: null for an absent or invalid one. Stripe adds values to its enumerations, and older objects
 * lack members. Only the members that decide about access are required.
 */
export const lenient = <const S extends v.GenericSchema>(schema: S) =>
  v.fallback(v.optional(v.nullable(schema), null), null);

/** Id of an object that can be expanded. */
export const Reference = v.pipe(
  v.union([v.string(), v.object({ id: v.string() })]),
  v.transform((reference) => (typeof reference === 'string' ? reference : reference.id)),
);
export const NullableReference = lenient(Reference);
export const Seconds = v.number();
export const NullableSeconds = lenient(Seconds);
export const NullableText = lenient(v.string());

/** An empty text for an absent or invalid one. */
export const Text = v.fallback(v.nullish(v.string(), ''), '');
export const NullableNumber = lenient(v.number());
export const Flag = v.fallback(v.nullish(v.boolean(), false), false);
export const Livemode = v.fallback(v.nullish(v.boolean(), true), true);
export const NullableMetadata = lenient(v.record(v.string(), v.string()));
export const NullableAddress = lenient(v.object({ country: NullableText }));

/**
 * A list inside a parent object, whose elements decide about access. Stripe returns its beginning only: see
 * `completeLists`.
 */
export const listSchema = <const S extends v.GenericSchema>(schema: S) =>
  v.object({ data: v.array(schema), has_more: Flag });
/** A list whose elements do not decide about access. Leaves out invalid elements. */
export const lenientArray = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    lenient(v.array(lenient(schema))),
    v.transform((elements) => (elements ?? []).filter((element) => element !== null)),
  );
export const lenientList = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    lenient(v.object({ data: lenientArray(schema), has_more: Flag })),
    v.transform((list) => list ?? { data: [], has_more: false }),
  );
