import { ServiceError } from './errors.ts';

/** Creates the error for a store that gave no usable response. `storeName` starts the sentence: `Google Play`. */
export const unavailableError = (storeName: string, cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', `${storeName} is unavailable. Try again later.`, { cause });
