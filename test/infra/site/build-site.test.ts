import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSearch } from '../../../console/site/search-index.ts';
import { buildSite } from '../../../infra/site/build-site.ts';
import { documents } from '../../../infra/site/navigation.ts';
import { toSitePath } from '../../../infra/site/site-path.ts';
import { contracts } from '../../../lib/contracts/index.ts';
import { listAnchors, listDocuments } from '../../../testing/documents.ts';

/** Lambda returns at most 6 MB, in which JSON escapes each quotation mark. */
const maxFileBytes = 4_000_000;

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-site-'));
let files: readonly string[];
beforeAll(async () => {
  await buildSite(folder);
  files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    );
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const findFile = (pattern: RegExp): string => files.find((name) => pattern.test(name)) ?? '';

describe('buildSite', () => {
  it('puts each document of the repository once into the navigation', () => {
    expect(documents.toSorted()).toEqual([...listDocuments(), 'emulator/README.md'].toSorted());
    for (const source of documents) expect(files).toContain(toSitePath(source));
  });

  it('links each page from each page, and marks the current one', () => {
    const page = read('guides/credits.html');
    expect(page).toContain('<a href="credits.html" aria-current="page">Credits</a>');
    for (const source of documents) {
      const path = toSitePath(source);
      expect(page).toContain(`href="${path.startsWith('guides/') ? path.slice('guides/'.length) : `../${path}`}"`);
    }
  });

  it('groups the operations of the API by area, and has the anchors of the former single page on the overview', () => {
    const overview = read('reference/index.html');
    for (const { id, area } of contracts) expect(overview).toContain(`<a id="${id}" href="${area}.html#${id}">`);
    expect(read('reference/credits.html')).toContain('aria-current="page">Credits</a>');
    for (const language of ['curl', 'JavaScript', 'Python'])
      expect(read('reference/validation.html')).toContain(`<figure data-language="${language}">`);
  });

  it('gives headings the anchors of git hosting', () => {
    for (const source of listDocuments()) {
      const ids = [...read(toSitePath(source)).matchAll(/<h\d id="([^"]+)"/g)].map(([, id]) => id);
      expect({ source, ids }).toEqual({ source, ids: listAnchors(source) });
    }
  });

  it('finds a term of the documents and the page that is about it', () => {
    const search = createSearch(JSON.parse(read(findFile(/^assets\/search-/))));
    expect(search('grace period').length).toBeGreaterThan(0);
    expect(search('entitlment')[0]?.url).toMatch(/entitlements/);
    expect(search('hasEntitl').map(({ url }) => url)).toContainEqual(expect.stringContaining('packages/server/'));
    expect(search('spend credits').map(({ url }) => url)).toContain('reference/credits.html#spend-credits');
    expect(search('Rotate secrets')[0]?.url).toBe('operating/rotate-secrets.html');
    expect(search('qqqqqqq')).toEqual([]);
  });

  it('writes pages without inline code and inline styles, which the service forbids', () => {
    for (const name of files.filter((file) => file.endsWith('.html')))
      expect([name, read(name).match(/<style|<[^>]* style=|<script(?![^>]*src=)|<[^>]* on\w+=/)]).toEqual([name, null]);
  });

  it('names each asset by the hash of its content', () => {
    const assets = files.filter((name) => !name.endsWith('.html') && name !== 'openapi.json');
    expect(assets.length).toBeGreaterThan(5);
    for (const name of assets) expect(name).toMatch(/^(?:assets|images)\/[\w-]+-[A-F0-9]{8}\.(?:js|css|json|svg)$/);
  });

  it('writes files that a response of Lambda can contain', () => {
    for (const name of files) expect([name, JSON.stringify(read(name)).length < maxFileBytes]).toEqual([name, true]);
  });
});
