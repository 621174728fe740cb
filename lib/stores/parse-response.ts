import * as v from 'valibot';
import type { ServiceError } from '../foundation/errors.ts';

/**
 * Creates a function that parses the JSON text of a store response with a schema. If the body is not JSON or does not
 * match, the function throws the error from `unavailable`: an invalid response is handled like an outage.
 */
export const createResponseParser =
  (unavailable: (reason: string) => ServiceError) =>
  <S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> => {
    const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text, { abortEarly: true });
    if (result.success) return result.output;
    const [issue] = result.issues;
    throw unavailable(`Unexpected response body: ${v.getDotPath(issue) ?? 'not JSON'}`);
  };

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
