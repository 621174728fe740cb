import {
  invalidSettingsError as createInvalidSettingsError,
  unavailableError as createUnavailableError,
  type ServiceError,
} from '../../foundation/errors.ts';
import { platformTokens, storeNames } from '../../foundation/platform.ts';
import { createResponseParser } from '../parse-response.ts';

/** Subject of the public error messages. */
export const storeName = storeNames[platformTokens.appStore];

export const unavailableError = (cause: unknown): ServiceError => createUnavailableError(storeName, cause);

export const invalidSettingsError = (reason: string, cause?: unknown): ServiceError =>
  createInvalidSettingsError(storeName, reason, cause);

export const parseResponse = createResponseParser(unavailableError);
