import { sanitize } from './sanitize.ts';
import { createRedactor } from './scrub.ts';
import { redactSecretPatterns } from './texts.ts';

/** What a log may tell of a cause: its words without keys, receipts and the given secrets, which a store may have repeated. */
export function toLoggable(cause: unknown, secrets: Iterable<string> = []): unknown {
  const scrub = createRedactor(secrets);
  const clean = (text: string) => redactSecretPatterns(scrub(text));
  if (cause instanceof Error)
    return { name: cause.name, message: clean(cause.message), stack: clean(cause.stack ?? '') };
  return typeof cause === 'string' ? clean(cause) : sanitize(cause, { scrub });
}
