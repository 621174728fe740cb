/**
 * Returns the anchor that GitHub creates from a heading. `counts` has the earlier ones of the document.
 * @see https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links
 */
export function toAnchor(title: string, counts: Map<string, number>): string {
  const anchor = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
  const count = counts.get(anchor) ?? 0;
  counts.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}
