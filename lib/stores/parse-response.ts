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
