/** Parses the position of a page in the URL. Rounds a position between two pages down to the start of a page. */
export function parseSkip(text: string | undefined, limit: number): number {
  const skip = Number(text ?? 0);
  return Number.isSafeInteger(skip) && skip > 0 ? skip - (skip % limit) : 0;
}
