import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { createResponseParser } from '../parse-response.ts';
import type { StoreResponse } from '../store-context.ts';

/** The error of a Google that cannot be asked now; what is wrong stays in the cause. */
export const unavailableError = (cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', 'Google Play cannot be asked now.', { cause });

/** The JSON text of an answer as the schema's type. Throws `ConnectionFailed` for a page, garbage or other words. */
export const parseResponse = createResponseParser(unavailableError);

/** The error of a service account that Google does not accept: a new grant may take two days to be effective. */
export const invalidSettingsError = (cause: string): ServiceError =>
  new ServiceError(
    'InternalError',
    'Google refuses the store_b settings of this application: check the service account and its permissions in the Play Console.',
    { cause },
  );

const ApiErrorBody = v.object({
  error: v.object({ errors: v.optional(v.array(v.object({ reason: v.optional(v.string()) })), []) }),
});

/** Throws what an answer that is not about the purchase calls for; leaves 400, 404 and 410 to the caller. */
export function checkResponse({ status, text }: StoreResponse): void {
  if (status >= 200 && status < 300) return;
  if (status === 401) throw invalidSettingsError(`HTTP ${status}`);
  if (![400, 403, 404, 410].includes(status)) throw unavailableError(`HTTP ${status}`);
  // A page of something in between says nothing of the purchase.
  const reasons = parseResponse(ApiErrorBody, text).error.errors.map(({ reason = '' }) => reason);
  if (reasons.some(isQuotaReason)) throw unavailableError('the quota is used up');
  if (status === 403) throw invalidSettingsError(`HTTP ${status}`);
  if (reasons.includes('applicationNotFound')) throw invalidSettingsError('Google does not know the packageName');
}

const isQuotaReason = (reason: string): boolean => /(rateLimit|quota)Exceeded$/i.test(reason);
