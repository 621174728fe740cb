import * as v from 'valibot';
import type { ServiceError } from '../../shared/errors.ts';
import * as storeErrors from '../api-errors.ts';
import { createResponseParser } from '../parse-response.ts';
import type { StoreResponse } from '../store-context.ts';

/** Name of the store in public error messages. */
export const storeName = 'Google Play';

/** Creates the error for an unavailable Google Play Developer API. `cause` has the details. */
export const unavailableError = (cause: unknown): ServiceError => storeErrors.unavailableError(storeName, cause);

/** Parses a response body. Throws `ConnectionFailed` if it is not JSON or does not match the schema. */
export const parseResponse = createResponseParser(unavailableError);

/** Creates the error for a service account that Google rejects. A new permission can take two days to become effective. */
export const invalidSettingsError = (cause: string): ServiceError =>
  storeErrors.invalidSettingsError(
    storeName,
    'check packageName, the service account and its permissions in the Play Console',
    cause,
  );

const ApiErrorBody = v.object({
  error: v.object({ errors: v.optional(v.array(v.object({ reason: v.optional(v.string()) })), []) }),
});

/** Throws the error of a response that is not about the purchase. The caller handles 400, 404 and 410. */
export function checkResponse({ status, text }: StoreResponse): void {
  if (status >= 200 && status < 300) return;
  if (status === 401) throw invalidSettingsError(`HTTP ${status}`);
  if (![400, 403, 404, 410].includes(status)) throw unavailableError(`HTTP ${status}`);
  // An error page of a proxy says nothing about the purchase: the body must be Google's.
  const reasons = parseResponse(ApiErrorBody, text).error.errors.map(({ reason = '' }) => reason);
  if (reasons.some(isQuotaReason)) throw unavailableError('quota exceeded');
  if (status === 403) throw invalidSettingsError(`HTTP ${status}`);
  if (reasons.includes('applicationNotFound')) throw invalidSettingsError('packageName is not found');
}

const isQuotaReason = (reason: string): boolean => /(rateLimit|quota)Exceeded$/i.test(reason);
