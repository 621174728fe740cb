import * as v from 'valibot';
import { invalidSettingsError, type ServiceError, unavailableError } from '../foundation/errors.ts';
import { type Platform, storeNames } from '../foundation/platform.ts';

/**
 * Creates the errors of a store. `storeName` starts their public messages.
 * - `unavailableError`: the store gave no usable response. `cause` has the details.
 * - `invalidSettingsError`: the store rejected the settings. `reason` is a public clause without a period.
 * - `parseResponse` throws the former for a body that is not JSON or does not match: it is handled like an outage.
 */
export function createStoreErrors(platform: Platform) {
  const storeName = storeNames[platform];
  const unavailable = (cause: unknown): ServiceError => unavailableError(storeName, cause);
  return {
    storeName,
    unavailableError: unavailable,
    invalidSettingsError: (reason: string, cause?: unknown): ServiceError =>
      invalidSettingsError(storeName, reason, cause),
    parseResponse: createResponseParser(unavailable),
  };
}

const createResponseParser =
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
