import { removed } from './texts.ts';

const shortest = 8;

/** Takes secrets out of texts. */
export type Scrub = (text: string) => string;

/** Takes out the secrets, as they are or percent-encoded; what is shorter than a secret can be stays. */
export function scrubOf(secrets: Iterable<string>): Scrub {
  const forms = [...secrets]
    .filter((secret) => secret.length >= shortest)
    .flatMap((secret) => [secret, percentEncoded(secret)]);
  // The longest first: a secret that is part of another must not leave the rest of it.
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((scrubbed, form) => scrubbed.replaceAll(form, removed), text);
}

/** A lone surrogate has no percent encoding, and no URL holds one. */
const percentEncoded = (secret: string): string => encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD'));
