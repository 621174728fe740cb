import { removed } from './texts.ts';

const shortest = 8;

/** The text without any of the secrets, as they are or percent-encoded; what is shorter than a secret can be stays. */
export function scrub(text: string, secrets: Iterable<string>): string {
  let scrubbed = text;
  for (const secret of secrets) {
    if (secret.length < shortest) continue;
    scrubbed = scrubbed.replaceAll(secret, removed);
    const encoded = percentEncoded(secret);
    if (encoded !== secret) scrubbed = scrubbed.replaceAll(encoded, removed);
  }
  return scrubbed;
}

/** A lone surrogate has no percent encoding, and no URL holds one. */
const percentEncoded = (secret: string): string => encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD'));
