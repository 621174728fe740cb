import { ServiceError } from '../foundation/errors.ts';

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

/** Checks one character at a time: the pattern `[.\s]+$` is quadratic, and a store chooses the text. */
function omitPeriod(text: string): string {
  let end = text.length;
  while (end > 0 && /[.\s]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
