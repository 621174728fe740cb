import { ServiceError } from '../../shared/errors.ts';
import { createResponseParser } from '../parse-response.ts';

/** The error of a Microsoft that cannot be asked now; what is wrong stays in the cause. */
export const unavailableError = (cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', 'Microsoft cannot be asked now.', { cause });

/** The JSON text of an answer as the schema's type. Throws `ConnectionFailed` for a page, garbage or other words. */
export const parseResponse = createResponseParser(unavailableError);

/** The error of settings that Microsoft does not accept, with what the operator should look at. */
export const invalidSettingsError = (advice: string, cause: string): ServiceError =>
  new ServiceError('InternalError', `Microsoft refuses the store_c settings of this application: ${advice}`, { cause });
