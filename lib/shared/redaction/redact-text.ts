export const removedMark = '[removed]';
export const trimmedMark = '[trimmed]';

const maxTextLength = 300;
/** Accepted ids have at most 900 bytes and are not truncated, because truncated ids could be confused. */
const maxIdLength = 900;

/** Matches keys and tokens of this service and of the processors, signed messages and credentials. */
const secretPattern =
  /\b(?:(?:ak|pub|sec|view)_[\w-]{16,}|(?:[sr]k_(?:live|test)|whsec)_\w{8,}|eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?|(?:Basic|Bearer)\s+\S{8,})|-----BEGIN[\s\S]*/gi;

/**
 * Matches long runs of letters and digits, such as receipts and signatures. Not applied to ids, which can be as long.
 */
const blobPattern = /(?=[\w+/=-]*[0-9])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*[a-z])[\w+/=-]{80,}/g;

/** Removes texts that match the pattern of a secret. */
export const redactSecretPatterns = (text: string): string =>
  text.replace(secretPattern, removedMark).replace(blobPattern, removedMark);

/** Redacts and truncates a text. Replaces lone surrogates, which cannot be stored. */
export const sanitizeText = (text: string): string =>
  truncate(redactSecretPatterns(toWellFormed(truncate(text, 20_000))), maxTextLength);

/** Returns an id unchanged unless it is a key or a signed message. */
export const sanitizeId = (id: string): string =>
  truncate(toWellFormed(truncate(id, maxIdLength)).replace(secretPattern, removedMark), maxIdLength);

const maxTagBytes = 1000;

/** Converts a value to an event tag. Truncates it only if it is longer than any accepted id. */
export function toTagValue(value: string): string {
  const text = toWellFormed(value);
  return Buffer.byteLength(text) > maxTagBytes ? `${toWellFormed(text.slice(0, maxTextLength))} ${trimmedMark}` : text;
}

/** Whether a value contains a key or a signed message and so cannot be an id. */
export const containsSecretPattern = (value: string): boolean => value.search(secretPattern) >= 0;

const toWellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');

const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength && !text.endsWith(trimmedMark) ? `${text.slice(0, maxLength)} ${trimmedMark}` : text;
