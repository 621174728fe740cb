import type { ServiceError } from '../errors.ts';
import { toLoggable } from './loggable.ts';

/** Writes one line of JSON to the function's log: where something failed, and why, without anything secret. */
export function logError(where: Readonly<Record<string, unknown>>, { code, message, cause }: ServiceError): void {
  console.error(
    JSON.stringify({ level: 'error', ...where, code, message: toLoggable(message), cause: toLoggable(cause) }),
  );
}
