import { ServiceError } from '../foundation/errors.ts';

/**
 * Creates the error for settings that the store rejected. `reason` is public: a clause without a period, such as
 * `the API key is not valid`. Details such as status codes belong in `cause`.
 */
export const invalidSettingsError = (storeName: string, reason: string, cause?: unknown): ServiceError =>
  new ServiceError('InternalError', `${storeName} rejected the settings: ${reason}.`, { cause });

/** Warning of a validation that does not contain the store's current state. */
export const lastVerifiedWarning = 'The store is unavailable. This is the last verified state of the purchase.';
