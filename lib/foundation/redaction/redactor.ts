import { maxRedactedLength, removedMark, trimmedMark } from './redact-text.ts';

const minSecretLength = 8;

/** Length of the start of a secret by which it is found. A longer secret is removed as far as the text repeats it. */
const prefixLength = 64;

/** A client can send any number of secrets. A legitimate request has fewer than 100. */
const maxSecrets = 5_000;

/** Maximum sum of text lengths times secrets, about 50 ms of CPU. A client chooses both. */
const maxWork = 40_000_000;

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/**
 * Creates a function that removes the secrets, plain or percent-encoded. Ignores secrets of fewer than 8 characters.
 * Truncates long texts. Removes whole texts if there are too many secrets, or as soon as its calls together exceed the
 * maximum work.
 */
export function createRedactor(secrets: Iterable<string>): Redact {
  const longSecrets = [...secrets].filter((secret) => secret.length >= minSecretLength);
  if (longSecrets.length > maxSecrets) return () => removedMark;
  const forms = longSecrets.flatMap((secret) => [secret, percentEncode(secret)]);
  // Longest first, because one secret can contain another.
  const sortedForms = [...new Set(forms)].sort((a, b) => b.length - a.length);
  let work = 0;
  return (text) => {
    const truncated = text.length > maxRedactedLength ? `${text.slice(0, maxRedactedLength)} ${trimmedMark}` : text;
    work += truncated.length * sortedForms.length;
    return work > maxWork ? removedMark : sortedForms.reduce(removeForm, truncated);
  };
}

/** Removes each occurrence of the secret. Linear in the length of the text, however long the secret is. */
function removeForm(text: string, form: string): string {
  if (form.length <= prefixLength) return text.replaceAll(form, removedMark);
  const prefix = form.slice(0, prefixLength);
  const parts: string[] = [];
  let position = 0;
  for (let index = text.indexOf(prefix); index >= 0; index = text.indexOf(prefix, position)) {
    parts.push(text.slice(position, index), removedMark);
    position = index + countCommonCharacters(text, index, form);
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(position);
}

/** Counts the characters from `index` on that are equal to the start of the form. */
function countCommonCharacters(text: string, index: number, form: string): number {
  let length = prefixLength;
  while (length < form.length && text[index + length] === form[length]) length++;
  return length;
}

/** Replaces lone surrogates, which cannot be percent-encoded. */
const percentEncode = (secret: string): string => encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD'));
