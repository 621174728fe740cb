import type { ServiceError } from './errors.ts';
import { redactSecretPatterns } from './redaction/redact-text.ts';
import { createRedactor } from './redaction/redactor.ts';
import { sanitize } from './redaction/sanitize.ts';

/** Writes one line of JSON to the function's log: where something failed, and why, without anything secret. */
export function logError(where: Readonly<Record<string, unknown>>, { code, message, cause }: ServiceError): void {
  console.error(
    JSON.stringify({ level: 'error', ...where, code, message: toLoggable(message), cause: toLoggable(cause) }),
  );
}

/** What a log may tell of a cause: its words without keys, receipts and the given secrets, which a store may have repeated. */
export function toLoggable(cause: unknown, secrets: Iterable<string> = []): unknown {
  const scrub = createRedactor(secrets);
  const clean = (text: string) => redactSecretPatterns(scrub(text));
  if (cause instanceof Error)
    return { name: cause.name, message: clean(cause.message), stack: clean(cause.stack ?? '') };
  return typeof cause === 'string' ? clean(cause) : sanitize(cause, { scrub });
}
