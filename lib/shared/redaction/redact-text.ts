export const removedMark = '[removed]';
export const trimmedMark = '[trimmed]';

const maxTextLength = 300;
/** An id is not cut in its middle, or two ids would look alike; none that is accepted is longer than 900 bytes. */
const maxIdLength = 900;

/** What is a secret wherever it stands: this service's keys and tokens, the processors', signed messages, credentials. */
const secretPattern =
  /\b(?:(?:ak|pub|sec)_[\w-]{16,}|(?:[sr]k_(?:live|test)|whsec)_\w{8,}|eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?|(?:Basic|Bearer)\s+\S{8,})|-----BEGIN[\s\S]*/gi;

/** A long run of letters and digits is a receipt or a signature; an id can be one as well and is spared. */
const blobPattern = /(?=[\w+/=-]*[0-9])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*[a-z])[\w+/=-]{80,}/g;

/** The text without anything that looks like a secret. */
export const redactSecretPatterns = (text: string): string =>
  text.replace(secretPattern, removedMark).replace(blobPattern, removedMark);

/** Well-formed text of a bounded length without anything that looks like a secret; a lone surrogate cannot be stored. */
export const sanitizeText = (text: string): string =>
  truncate(redactSecretPatterns(toWellFormed(truncate(text, 20_000))), maxTextLength);

/** An identifier as it is, unless it is a key or a signed message. */
export const sanitizeId = (id: string): string =>
  truncate(toWellFormed(truncate(id, maxIdLength)).replace(secretPattern, removedMark), maxIdLength);

const maxTagBytes = 1000;

/** A value as events are tagged with it: whole unless it is longer than any id that is accepted. */
export function toTagValue(value: string): string {
  const text = toWellFormed(value);
  return Buffer.byteLength(text) > maxTagBytes ? `${toWellFormed(text.slice(0, maxTextLength))} ${trimmedMark}` : text;
}

/** Whether a value is a key or a signed message, so that it can be no id. */
export const containsSecretPattern = (value: string): boolean => value.search(secretPattern) >= 0;

const toWellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');

const truncate = (text: string, longest: number): string =>
  text.length > longest && !text.endsWith(trimmedMark) ? `${text.slice(0, longest)} ${trimmedMark}` : text;
