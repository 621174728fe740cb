import Stripe from 'stripe';
import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { createStoreErrors } from '../parse-response.ts';
import { createRejection, type SettingsRejection } from '../settings.ts';

const storeErrors = createStoreErrors(platformTokens.stripe);
export const { storeName, unavailableError } = storeErrors;

export const missingPermissionError = (rejection: SettingsRejection): ServiceError =>
  storeErrors.invalidSettingsError('secretKey does not have the required permissions', rejection);

/** Describes an error for logs. The message of Stripe masks the key. */
const describeCause = ({ statusCode, code, requestId, message }: Stripe.errors.StripeError): string =>
  [`HTTP ${statusCode}`, code, requestId, message].filter(Boolean).join(', ');

/**
 * Translates an error of the Stripe client to a `ServiceError`. Returns other errors unchanged.
 *
 * @see https://docs.stripe.com/api/errors
 */
export function toServiceError(error: unknown): unknown {
  const { errors } = Stripe;
  if (!(error instanceof errors.StripeError)) return error;
  const cause = { type: error.type, code: error.code, requestId: error.requestId, message: error.message };
  if (error instanceof errors.StripeAuthenticationError) {
    const kind = error.code === 'api_key_expired' ? 'expired' : 'credentials';
    return storeErrors.invalidSettingsError('secretKey is not valid', createRejection(kind, describeCause(error)));
  }
  if (error instanceof errors.StripePermissionError) {
    return missingPermissionError(createRejection('permission', describeCause(error)));
  }
  if (error instanceof errors.StripeIdempotencyError) {
    return new ServiceError('Conflict', 'The same operation is in progress.', { cause });
  }
  if (error instanceof errors.StripeCardError) {
    return new ServiceError('InvalidPayload', 'The payment was declined.', { cause });
  }
  if (error instanceof errors.StripeInvalidRequestError) {
    const isMissing = error.code === 'resource_missing' || error.statusCode === 404;
    const message = isMissing ? 'The id is not found at Stripe.' : 'Stripe rejected the request.';
    return new ServiceError('InvalidPayload', message, { cause });
  }
  return unavailableError(cause);
}
