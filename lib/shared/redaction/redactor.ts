import { removedMark } from './redact-text.ts';

const minSecretLength = 8;

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/**
 * Creates a function that removes the secrets, plain or percent-encoded. Ignores secrets of fewer than 8 characters.
 */
export function createRedactor(secrets: Iterable<string>): Redact {
  const forms = [...secrets]
    .filter((secret) => secret.length >= minSecretLength)
    .flatMap((secret) => [secret, percentEncode(secret)]);
  // Longest first, because one secret can contain another.
  const sortedForms = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => sortedForms.reduce((redacted, form) => redacted.replaceAll(form, removedMark), text);
}

/** Replaces lone surrogates, which cannot be percent-encoded. */
const percentEncode = (secret: string): string => encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD'));
