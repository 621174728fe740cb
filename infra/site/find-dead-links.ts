import { posix } from 'node:path';

/** Lists the relative links and sources of pages that lead to a missing file or a missing anchor, with their page. */
export function findDeadLinks(files: ReadonlyMap<string, string>): string[] {
  const ids = new Map<string, ReadonlySet<string>>();
  const listIds = (page: string): ReadonlySet<string> => {
    const present =
      ids.get(page) ?? new Set([...(files.get(page) ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
    ids.set(page, present);
    return present;
  };
  const isDead = (page: string, url: string): boolean => {
    const [path = '', anchor] = url.split('#');
    const target = path === '' ? page : posix.join(posix.dirname(page), path);
    if (!files.has(target)) return true;
    return anchor !== undefined && !listIds(target).has(decodeURIComponent(anchor));
  };
  return [...files]
    .filter(([name]) => name.endsWith('.html'))
    .flatMap(([page, html]) =>
      [...html.matchAll(/ (?:href|src|data-search)="([^"]*)"/g)]
        .map(([, url = '']) => url)
        .filter((url) => !/^[a-z]+:/.test(url) && isDead(page, url))
        .map((url) => `${page}: ${url}`),
    );
}
