import { posix } from 'node:path';

/** Paths that differ from the rule of `toSitePath`. */
const paths: Readonly<Record<string, string>> = { 'README.md': 'index.html', 'docs/README.md': 'all-pages.html' };

/** Returns the path of a document in the site: `docs/guides/credits.md` is `guides/credits.html`. */
export const toSitePath = (source: string): string =>
  paths[source] ??
  source
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.html')
    .replace(/^[A-Z]+(?=\.md$)/, (name) => name.toLowerCase())
    .replace(/\.md$/, '.html')
    .replace(/(?<!\.html)$/, '.html');

/** Returns the URL of a file of the site, relative to a page: the site works below any path, and from a folder. */
export const toRelativeUrl = (from: string, to: string): string => posix.relative(posix.dirname(from), to);
