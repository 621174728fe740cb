import * as v from 'valibot';

/**
 * An optional field of a store's response on which access does not depend: null and a value of a different type count
 * as absent. A store can add or change the field without making the response unusable.
 */
export const lenientOptional = <S extends v.GenericSchema>(schema: S) =>
  v.optional(v.fallback(nullableOptional(schema), undefined));

/** An optional field in which null counts as absent. A value of a different type makes the response unusable. */
export const nullableOptional = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value): v.InferOutput<S> | undefined => value ?? undefined),
  );
