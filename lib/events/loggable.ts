import { sanitize } from './sanitize.ts';
import { scrub } from './scrub.ts';
import { withoutKeys } from './texts.ts';

/** What a log may tell of a cause: its words without keys, receipts and the given secrets, which a store may have repeated. */
export function loggable(cause: unknown, secrets: Iterable<string> = []): unknown {
  const clean = (text: string) => withoutKeys(scrub(text, secrets));
  if (cause instanceof Error)
    return { name: cause.name, message: clean(cause.message), stack: clean(cause.stack ?? '') };
  return typeof cause === 'string' ? clean(cause) : sanitize(cause, new Set(secrets));
}
