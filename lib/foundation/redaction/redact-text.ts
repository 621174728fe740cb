/** Prefixes of the API keys by their level. Their redaction follows from this table. */
export const apiKeyPrefixes = { public: 'pub', secret: 'sec', viewer: 'view', support: 'sup' } as const;

/** Prefix of the access tokens of checkouts. */
export const accessTokenPrefix = 'ak';

export const removedMark = '[removed]';
export const trimmedMark = '[trimmed]';

const maxTextLength = 300;

/** Maximum length of a text before its redaction. */
const maxRedactedLength = 20_000;

/** Accepted ids have at most 900 bytes and are not truncated, because truncated ids could be confused. */
const maxIdLength = 900;

/** Matches keys and tokens of this service and of the processors, and credentials. */
const secretPattern = new RegExp(
  [
    `\\b(?:(?:${[accessTokenPrefix, ...Object.values(apiKeyPrefixes)].join('|')})_[\\w-]{16,}`,
    '(?:[sr]k_(?:live|test)|whsec)_\\w{8,}',
    '(?:Basic|Bearer)\\s+\\S{8,})',
    '-----BEGIN[\\s\\S]*',
  ].join('|'),
  'gi',
);

/** Matches runs in which a signed message (JWS, JWE) can be. Its header begins with the base64 of `{"`. */
const dottedRunPattern = /[\w.-]+/g;
const jsonHeaderPattern = /\beyJ[\w-]{5}/;

/**
 * Matches runs of letters and digits, such as receipts and signatures. Their length and their content are checked
 * separately.
 */
const runPattern = /[\w+/=-]+/g;
const minBlobLength = 80;

const minSecretLength = 8;

/** Length of the start of a secret by which it is found. A longer secret is removed as far as the text repeats it. */
const prefixLength = 64;

/** A client can send any number of secrets. A legitimate request has fewer than 100. */
const maxSecrets = 5_000;

/** Maximum sum of text lengths times secrets, about 50 ms of CPU. A client chooses both. */
const maxWork = 40_000_000;

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

const maxTagBytes = 1000;

/*
 * The time of each function is linear in the length of the text, because clients choose texts of up to 2 MB. A pattern
 * that checks the rest of a run at each of its positions is quadratic: runs are therefore matched once and checked by a
 * function.
 */

/** Removes the header of a signed message and all that follows in its run, if the run has a second part. */
function removeSignedMessage(run: string): string {
  const index = run.search(jsonHeaderPattern);
  return index >= 0 && /\.[\w-]/.test(run.slice(index)) ? run.slice(0, index) + removedMark : run;
}

/** A long run with digits, capitals and small letters. */
const isBlob = (run: string): boolean =>
  run.length >= minBlobLength && /[0-9]/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run);

const removeSecrets = (text: string): string =>
  text.replace(secretPattern, removedMark).replace(dottedRunPattern, removeSignedMessage);

/** Removes texts that match the pattern of a secret. */
export const redactSecretPatterns = (text: string): string =>
  removeSecrets(text).replace(runPattern, (run) => (isBlob(run) ? removedMark : run));

/** Redacts and truncates a text. Replaces lone surrogates, which cannot be stored. */
export function sanitizeText(text: string): string {
  const redacted = redactSecretPatterns(toWellFormed(text.slice(0, maxRedactedLength)));
  return text.length > maxRedactedLength ? addTrimmedMark(redacted, maxTextLength) : truncate(redacted, maxTextLength);
}

/**
 * Returns an id unchanged unless it is a key or a signed message. Ids can be as long as a receipt, so long runs stay.
 */
export const sanitizeId = (id: string): string =>
  truncate(removeSecrets(toWellFormed(truncate(id, maxIdLength))), maxIdLength);

/** Converts a value to an event tag. Truncates it only if it is longer than any accepted id. */
export function toTagValue(value: string): string {
  const text = toWellFormed(value);
  return Buffer.byteLength(text) > maxTagBytes ? `${toWellFormed(text.slice(0, maxTextLength))} ${trimmedMark}` : text;
}

/** A value with a secret cannot be an id. */
export const containsSecretPattern = (value: string): boolean => removeSecrets(value) !== value;

const toWellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');

/** Truncates a text unless this function has truncated it before. */
function truncate(text: string, maxLength: number): string {
  const isTruncated = text.length === maxLength + 1 + trimmedMark.length && text.endsWith(` ${trimmedMark}`);
  return text.length > maxLength && !isTruncated ? addTrimmedMark(text, maxLength) : text;
}

const addTrimmedMark = (text: string, maxLength: number): string => `${text.slice(0, maxLength)} ${trimmedMark}`;

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
