import { removedMark } from './redact-text.ts';

const minSecretLength = 8;

/** Takes secrets out of texts. */
export type Redact = (text: string) => string;

/** Takes out the secrets, as they are or percent-encoded; what is shorter than a secret can be stays. */
export function createRedactor(secrets: Iterable<string>): Redact {
  const forms = [...secrets]
    .filter((secret) => secret.length >= minSecretLength)
    .flatMap((secret) => [secret, percentEncode(secret)]);
  // The longest first: a secret that is part of another must not leave the rest of it.
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((scrubbed, form) => scrubbed.replaceAll(form, removedMark), text);
}

/** A lone surrogate has no percent encoding, and no URL holds one. */
const percentEncode = (secret: string): string => encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD'));
