import * as v from 'valibot';
import type { ServiceError } from '../shared/errors.ts';

/**
 * Reads the JSON text of a store's answer as a schema's type. What is a page, garbage or in other words is the error that
 * `unavailable` makes of the reason: a store that talks nonsense cannot be asked now.
 */
export const createResponseParser =
  (unavailable: (reason: string) => ServiceError) =>
  <S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> => {
    const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text, { abortEarly: true });
    if (result.success) return result.output;
    const [issue] = result.issues;
    throw unavailable(`the answer is not as documented: ${v.getDotPath(issue) ?? 'it is no JSON'}`);
  };
