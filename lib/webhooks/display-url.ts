/** Returns the URL without credentials: a query can contain them, and so can a long path segment. */
export function toDisplayUrl(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/[^/]{25,}/g, '…')}`;
}
