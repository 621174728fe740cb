import { ServiceError } from './errors.ts';

/**
 * Creates the error for settings that the store rejected. `reason` is public: a clause without a period, such as
 * `the API key is not valid`. Details such as status codes belong in `cause`.
 */
export const invalidSettingsError = (storeName: string, reason: string, cause?: unknown): ServiceError =>
  new ServiceError('InternalError', `${storeName} rejected the settings: ${reason}.`, { cause });

/** Whether a text contains the message of this error. An empty name is any store. */
export const reportsInvalidSettings = (text: string, storeName: string): boolean =>
  text.includes(`${storeName} rejected the settings: `);
