import { ServiceError } from '../shared/errors.ts';

/**
 * Describes an error as a clause without a period, with its cause, because the message of a `ServiceError` is for
 * clients.
 */
export function describeError(error: unknown): string {
  const message = omitPeriod(error instanceof Error ? error.message : String(error));
  const cause = error instanceof ServiceError ? error.cause : undefined;
  if (cause === undefined || (typeof cause === 'object' && !(cause instanceof Error))) return message;
  return `${message} (${omitPeriod(cause instanceof Error ? cause.message : String(cause))})`;
}

const omitPeriod = (text: string): string => text.replace(/[.\s]+$/, '');
