import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { createStoreErrors } from '../parse-response.ts';
import { createRejection } from '../settings.ts';

export const { storeName, unavailableError, invalidSettingsError } = createStoreErrors(platformTokens.braintree);

/** Translates an error of the Braintree client to a `ServiceError`. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isBraintreeError(error, 'authenticationError'))
    return invalidSettingsError('publicKey or privateKey is not valid', createRejection('credentials', 'HTTP 401'));
  if (isBraintreeError(error, 'authorizationError')) {
    return invalidSettingsError(
      'the keys do not have the required permissions',
      createRejection('permission', 'HTTP 403'),
    );
  }
  if (isBraintreeError(error, 'notFoundError')) {
    return new ServiceError('InvalidPayload', 'The id is not found at Braintree.', { cause: error });
  }
  return unavailableError(error);
}

/** `type` is a name of the Braintree client, such as `notFoundError`. */
export const isBraintreeError = (error: unknown, type: string): boolean =>
  error instanceof Error && 'type' in error && error.type === type;
