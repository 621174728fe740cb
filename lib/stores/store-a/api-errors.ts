import { ServiceError } from '../../shared/errors.ts';
import { createResponseParser } from '../parse-response.ts';

/** The error of an Apple that cannot be asked now; what is wrong stays in the cause. */
export const unavailableError = (cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', 'Apple cannot be asked now.', { cause });

/** The JSON text of an answer as the schema's type. Throws `ConnectionFailed` for a page, garbage or other words. */
export const parseResponse = createResponseParser(unavailableError);

/** The error of settings that Apple does not accept. */
export const invalidSettingsError = (cause: string): ServiceError =>
  new ServiceError('InternalError', 'Apple refuses the store_a settings of this application.', { cause });
