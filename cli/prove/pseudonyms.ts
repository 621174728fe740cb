import { createHmac, randomBytes } from 'node:crypto';

/** Replaces values by others of the same form: equal values get equal replacements within one recording. */
export interface Pseudonyms {
  replace(value: string): string;
  /** The value was replaced before. */
  has(value: string): boolean;
}

/** Creates replacements with a random key that is not kept, so that they cannot be computed from candidates. */
export function createPseudonyms(key: Buffer = randomBytes(32)): Pseudonyms {
  const replacements = new Map<string, string>();
  const used = new Set<string>();
  const replacePart = (part: string): string => {
    const existing = replacements.get(part);
    if (existing !== undefined) return existing;
    let replacement = part;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      replacement = substitute(part, key, attempt);
      if (replacement !== part && !used.has(replacement)) break;
    }
    used.add(replacement);
    replacements.set(part, replacement);
    return replacement;
  };
  return {
    replace: (value) =>
      splitParts(value)
        .map(({ text, isKept }) => (isKept ? text : replacePart(text)))
        .join(''),
    has: (value) => splitParts(value).some(({ text, isKept }) => !isKept && replacements.has(text)),
  };
}

/** A short value can have few replacements. */
const maxAttempts = 50;

interface Part {
  readonly text: string;
  readonly isKept: boolean;
}

/**
 * Prefixes that give an id its type: the platform of a purchase, `GPA.` of an order, `sub_` of an object of Stripe. The
 * suffix of an order of Google Play is the number of the renewal.
 */
const prefixPattern =
  /^((?:(?:(?:service_)?processor_[ab]|store_[abc]):)?(?:GPA\.|https?:\/\/|[a-z]{2,8}_(?:test_|live_)?(?=[A-Za-z0-9]))?)(.*?)(\.\.\d{1,3})?$/s;

function splitParts(value: string): readonly Part[] {
  const [, prefix = '', body = value, suffix = ''] = prefixPattern.exec(value) ?? [];
  // The purchase id of a second line item has the product after the token.
  const parts = body
    .split(':')
    .flatMap((text, index) => [...(index > 0 ? [{ text: ':', isKept: true }] : []), { text, isKept: text === '' }]);
  return [{ text: prefix, isKept: true }, ...parts, { text: suffix, isKept: true }];
}

/**
 * Replaces each letter and digit by one of its kind. Hexadecimal text stays hexadecimal, and a UUID valid. Its
 * replacement does not depend on hyphens and case, which stores write differently.
 */
function substitute(text: string, key: Buffer, attempt: number): string {
  const isHex = /^[\da-f-]{16,}$/i.test(text) && /[a-f]/i.test(text);
  const canonical = isHex ? text.replaceAll('-', '').toLowerCase() : text;
  const stream = createKeyStream(key, `${attempt} ${canonical}`);
  const replaced = [...canonical].map((character, index) => {
    const random = stream();
    // Version and variant of a UUID.
    if (isHex && canonical.length === uuidLength && (index === 12 || index === 16)) return character;
    const alphabet = isHex ? hexDigits : findAlphabet(character);
    if (alphabet === undefined) return character;
    const isLeadingDigit = index === 0 && alphabet === digits;
    return isLeadingDigit ? (digits[1 + (random % 9)] ?? '1') : (alphabet[random % alphabet.length] ?? character);
  });
  if (!isHex) return replaced.join('');
  const next = replaced.values();
  return [...text].map((character) => (character === '-' ? '-' : (next.next().value ?? ''))).join('');
}

const digits = '0123456789';
const lowerLetters = 'abcdefghijklmnopqrstuvwxyz';
const hexDigits = '0123456789abcdef';
const uuidLength = 32;

function findAlphabet(character: string): string | undefined {
  if (/\d/.test(character)) return digits;
  if (/\p{Lu}/u.test(character)) return lowerLetters.toUpperCase();
  return /\p{L}/u.test(character) ? lowerLetters : undefined;
}

function createKeyStream(key: Buffer, text: string): () => number {
  let block = Buffer.alloc(0);
  let used = 0;
  let counter = 0;
  return () => {
    if (used === block.length) {
      block = createHmac('sha256', key).update(`${counter++} ${text}`).digest();
      used = 0;
    }
    return block[used++] ?? 0;
  };
}
