const maxTextLength = 160;
const maxItems = 2;

/**
 * Shortens a recorded value for a document: signed texts to their beginning, lists to two items. `replacements` replace
 * texts of the recording, such as its port.
 */
export function shortenExample<T>(value: T, replacements: readonly (readonly [string, string])[]): T {
  const shorten = (part: unknown): unknown => {
    if (typeof part === 'string') {
      const text = replacements.reduce((result, [recorded, shown]) => result.replaceAll(recorded, shown), part);
      return text.length > maxTextLength ? `${text.slice(0, maxTextLength / 2)}…` : text;
    }
    if (Array.isArray(part)) return part.slice(0, maxItems).map(shorten);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, shorten(member)]));
  };
  return shorten(value) as T;
}
