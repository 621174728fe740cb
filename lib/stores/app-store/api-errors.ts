import type { ServiceError } from '../../foundation/errors.ts';
import { invalidSettingsError as createInvalidSettingsError } from '../../foundation/invalid-settings-error.ts';
import { platformTokens, storeNames } from '../../foundation/platform.ts';
import { unavailableError as createUnavailableError } from '../../foundation/unavailable-error.ts';
import { createResponseParser } from '../parse-response.ts';

/** Subject of the public error messages. */
export const storeName = storeNames[platformTokens.appStore];

export const unavailableError = (cause: unknown): ServiceError => createUnavailableError(storeName, cause);

export const invalidSettingsError = (reason: string, cause?: unknown): ServiceError =>
  createInvalidSettingsError(storeName, reason, cause);

export const parseResponse = createResponseParser(unavailableError);
