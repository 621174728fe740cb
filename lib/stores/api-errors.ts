import { type ErrorCode, ServiceError } from '../shared/errors.ts';
import type { Platform } from '../shared/platform.ts';

/** Creates the error for a store that gave no usable response. `storeName` starts the sentence: `Google Play`. */
export const unavailableError = (storeName: string, cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', `${storeName} is unavailable. Try again later.`, { cause });

/**
 * Creates the error for settings that the store rejected. `reason` is public: a clause without a period, such as
 * `the API key is not valid`. Details such as status codes belong in `cause`.
 */
export const invalidSettingsError = (storeName: string, reason: string, cause?: unknown): ServiceError =>
  new ServiceError('InternalError', `${storeName} rejected the settings: ${reason}.`, { cause });

/** Creates the error for stored settings that do not match the adapter's schema. */
export const unusableSettingsError = (platform: Platform, cause: unknown): ServiceError =>
  new ServiceError('InternalError', `The ${platform} settings of the app are not valid.`, { cause });

/** Creates the error for a request to a store that the app does not use. */
export const missingSettingsError = (platform: Platform, code: ErrorCode = 'InvalidPayload'): ServiceError =>
  new ServiceError(code, `The app has no ${platform} settings.`);

/** Warning of a validation that does not contain the store's current state. */
export const lastVerifiedWarning = 'The store is unavailable. This is the last verified state of the purchase.';
