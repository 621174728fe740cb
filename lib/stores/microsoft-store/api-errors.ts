import {
  invalidSettingsError as createInvalidSettingsError,
  unavailableError as createUnavailableError,
  type ServiceError,
} from '../../foundation/errors.ts';
import { platformTokens, storeNames } from '../../foundation/platform.ts';
import { createResponseParser } from '../parse-response.ts';
import type { SettingsRejection } from '../settings.ts';

/** Name of the store in public error messages. */
export const storeName = storeNames[platformTokens.microsoftStore];

/** Creates the error for an unavailable Microsoft Store service. `cause` has the details. */
export const unavailableError = (cause: unknown): ServiceError => createUnavailableError(storeName, cause);

/** Parses a response body. Throws `ConnectionFailed` if it is not JSON or does not match the schema. */
export const parseResponse = createResponseParser(unavailableError);

/** Creates the error for settings that Microsoft rejects. `reason` names the setting that the operator should check. */
export const invalidSettingsError = (reason: string, cause: SettingsRejection): ServiceError =>
  createInvalidSettingsError(storeName, reason, cause);
