import * as v from 'valibot';
import type { ServiceError } from '../../foundation/errors.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { createStoreErrors } from '../parse-response.ts';
import { createRejection, type RejectionKind } from '../settings.ts';
import type { StoreResponse } from '../store-context.ts';

const storeErrors = createStoreErrors(platformTokens.googlePlay);
export const { storeName, unavailableError, parseResponse } = storeErrors;

/** Creates the error for a service account that Google rejects. `detail` is for logs. */
export const invalidSettingsError = (kind: RejectionKind, detail: string): ServiceError =>
  storeErrors.invalidSettingsError(rejectionReasons[kind] ?? invalidKeyReason, createRejection(kind, detail));

const invalidKeyReason = 'the key of the service account is deleted, disabled or wrong';
const rejectionReasons: Readonly<Partial<Record<RejectionKind, string>>> = {
  permission: 'the service account lacks access to packageName',
  apiDisabled: 'the Google Play Android Developer API is disabled',
  app: 'packageName is not found',
  clock: 'the clock of this service is wrong',
};

const ApiErrorBody = v.object({
  error: v.object({ errors: v.optional(v.array(v.object({ reason: v.optional(v.string()) })), []) }),
});

/** The body of a 401 can be a page of a proxy. Then the credentials are the likely cause. */
const AnyBody = v.fallback(v.pipe(v.string(), v.parseJson(), ApiErrorBody), { error: { errors: [] } });

/** Throws the error of a response that is not about the purchase. The caller handles 400, 404 and 410. */
export function checkResponse({ status, text }: StoreResponse): void {
  if (status >= 200 && status < 300) return;
  if (status === 401) throw rejectionError(status, listReasons(v.parse(AnyBody, text)));
  if (![400, 403, 404, 410].includes(status)) throw unavailableError(`HTTP ${status}`);
  // An error page of a proxy says nothing about the purchase: the body must be Google's.
  const reasons = listReasons(parseResponse(ApiErrorBody, text));
  if (reasons.some(isQuotaReason)) throw unavailableError('quota exceeded');
  if (status === 403) throw rejectionError(status, reasons);
  if (reasons.includes('applicationNotFound')) throw invalidSettingsError('app', 'packageName is not found');
}

const Rejection = v.object({
  error: v.object({
    message: v.optional(v.string(), ''),
    errors: v.optional(v.array(v.object({ reason: v.optional(v.string(), '') })), []),
  }),
});

/** Returns Google's message and reason of a rejected call. */
export function describeRejectedCall(text: string): string {
  const { error } = parseResponse(Rejection, text);
  const [reason = ''] = error.errors.map((item) => item.reason).filter(Boolean);
  return `${error.message.slice(0, 300)}${reason && ` (${reason})`}`;
}

const listReasons = ({ error }: v.InferOutput<typeof ApiErrorBody>): string[] =>
  error.errors.map(({ reason = '' }) => reason);

/**
 * Google returns 401 or 403 for a service account without access. A new grant can take two days to become effective.
 * @see https://developers.google.com/android-publisher/getting_started
 */
function rejectionError(status: number, reasons: readonly string[]): ServiceError {
  const detail = [`HTTP ${status}`, ...reasons].join(', ');
  if (reasons.includes('accessNotConfigured')) return invalidSettingsError('apiDisabled', detail);
  const isDenied = reasons.some((reason) => permissionReasons.has(reason));
  return invalidSettingsError(isDenied || status === 403 ? 'permission' : 'credentials', detail);
}

const permissionReasons: ReadonlySet<string> = new Set([
  'permissionDenied',
  'insufficientPermissions',
  'projectNotLinked',
]);

const isQuotaReason = (reason: string): boolean => /(rateLimit|quota)Exceeded$/i.test(reason);
