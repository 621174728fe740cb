const uuidPattern = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/;
const minIdLength = 20;

/** A UUID, or 20 or more letters and digits in a row with a digit, in a lower-cased name. */
const containsId = (text: string): boolean =>
  uuidPattern.test(text) || text.split(/[^a-z\d]/).some((run) => run.length >= minIdLength && /\d/.test(run));

/** A word that begins with a letter and is not the first one. */
const laterWordPattern = /(?<=[^\p{L}\p{M}\p{N}])\p{L}[\p{L}\p{M}\p{N}]*/gu;

/** Bytes of the shortest word: three letters of the Latin alphabet, or one Chinese character. */
const minWordBytes = 3;

/** Words of a name that are stored. `keys.ts` has as many shards for each of them as for names. */
export const maxNameWords = 3;

/**
 * Returns the lower-cased ends of a name, each from the beginning of a word: `stripe@example.com` and `example.com` of
 * `nora.stripe@example.com`. Leaves out the first word, the words of a domain after its first one, and names that
 * contain a generated id, which is never searched for by a part.
 */
export function listNameEnds(name: string): string[] {
  const text = name.toLowerCase();
  if (containsId(text)) return [];
  const domain = text.lastIndexOf('@') + 1 || text.length;
  return [...text.matchAll(laterWordPattern)]
    .filter(({ 0: word, index }) => index <= domain && Buffer.byteLength(word) >= minWordBytes)
    .slice(0, maxNameWords)
    .map(({ index }) => text.slice(index));
}
