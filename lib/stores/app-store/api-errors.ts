import type { ServiceError } from '../../shared/errors.ts';
import * as storeErrors from '../api-errors.ts';
import { createResponseParser } from '../parse-response.ts';

/** Subject of the public error messages. */
export const storeName = 'The App Store';

export const unavailableError = (cause: unknown): ServiceError => storeErrors.unavailableError(storeName, cause);

export const invalidSettingsError = (reason: string, cause?: unknown): ServiceError =>
  storeErrors.invalidSettingsError(storeName, reason, cause);

export const parseResponse = createResponseParser(unavailableError);
