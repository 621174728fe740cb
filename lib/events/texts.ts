export const removed = '[removed]';
export const trimmed = '[trimmed]';

const longestText = 300;
/** An id is not cut in its middle, or two ids would look alike; none that is accepted is longer than 900 bytes. */
const longestId = 900;

/** What is a secret wherever it stands: this service's keys and tokens, the processors', signed messages, credentials. */
const keys =
  /\b(?:(?:ak|pub|sec)_[\w-]{16,}|(?:[sr]k_(?:live|test)|whsec)_\w{8,}|eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?|(?:Basic|Bearer)\s+\S{8,})|-----BEGIN[\s\S]*/gi;

/** A long run of letters and digits is a receipt or a signature; an id can be one as well and is spared. */
const blob = /(?=[\w+/=-]*[0-9])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*[a-z])[\w+/=-]{80,}/g;

/** The text without anything that looks like a secret. */
export const withoutKeys = (text: string): string => text.replace(keys, removed).replace(blob, removed);

/** Well-formed text of a bounded length without anything that looks like a secret; a lone surrogate cannot be stored. */
export const safeText = (text: string): string => cut(withoutKeys(wellFormed(cut(text, 20_000))), longestText);

/** An identifier as it is, unless it is a key or a signed message. */
export const safeId = (id: string): string => cut(wellFormed(cut(id, longestId)).replace(keys, removed), longestId);

const mostTagBytes = 1000;

/** A value as events are tagged with it: whole unless it is longer than any id that is accepted. */
export function tagText(value: string): string {
  const text = wellFormed(value);
  return Buffer.byteLength(text) > mostTagBytes ? `${wellFormed(text.slice(0, longestText))} ${trimmed}` : text;
}

/** Whether a value is a key or a signed message, so that it can be no id. */
export const looksSecret = (value: string): boolean => value.search(keys) >= 0;

const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');

const cut = (text: string, longest: number): string =>
  text.length > longest && !text.endsWith(trimmed) ? `${text.slice(0, longest)} ${trimmed}` : text;
