import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildConsole } from '../../infra/build-console.ts';

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-console-'));
let metafile: Awaited<ReturnType<typeof buildConsole>>;
let inputs: readonly string[];
beforeAll(async () => {
  metafile = await buildConsole(folder);
  inputs = Object.keys(metafile.inputs);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The files of the console, without the API document and its overview, which no page of the console loads. */
const listAssets = () => readdirSync(folder).filter((name) => !/^(?:openapi\.json|llms\.txt)$/.test(name));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

const measure = (names: readonly string[]): number =>
  names.map((name) => gzipSync(read(name)).length).reduce((total, size) => total + size, 0);

/** Lists the scripts that the console loads for each page: its own with their imports, and the scripts of the page. */
function listPages(): readonly (readonly string[])[] {
  const { outputs } = metafile;
  const findImports = (path: string, kind: 'import-statement' | 'dynamic-import'): string[] =>
    (outputs[path]?.imports ?? []).filter((imported) => imported.kind === kind).map((imported) => imported.path);
  const collect = (path: string): string[] => [path, ...findImports(path, 'import-statement').flatMap(collect)];
  const [entry = ''] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === 'console/main.tsx') ?? [];
  const shell = collect(entry);
  const pages = [...new Set(shell.flatMap((path) => findImports(path, 'dynamic-import')))];
  return pages.map((page) => [...new Set([...shell, ...collect(page)])].map((path) => basename(path)));
}

describe('buildConsole', () => {
  it('loads at most 70 kB for each page, compressed as API Gateway compresses it', () => {
    const sizes = listPages().map((scripts) =>
      measure([...listAssets().filter((name) => !name.endsWith('.js')), ...scripts]),
    );
    expect(sizes.length).toBeGreaterThan(15);
    expect(Math.max(...sizes)).toBeLessThan(70_000);
  });

  it('bundles the console, Preact, uPlot and the texts of problems, credits and webhooks, and nothing else of the service', () => {
    const expected =
      /^(?:console|lib\/problems|node_modules\/(?:preact|uplot))\/|^lib\/api\/(?:credit|webhook)-texts\.ts$/;
    expect(inputs.filter((path) => !expected.test(path))).toEqual([]);
  });

  it('names each asset by the hash of its content, and refers to the assets by relative URLs', () => {
    for (const name of listAssets().filter((file) => file !== 'index.html'))
      expect(name).toMatch(/-[A-Z0-9]{8}\.(?:js|css)$/);
    const urls = [...read('index.html').matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
    const assetUrls = urls.filter((url) => !url.startsWith('data:'));
    expect(assetUrls.length).toBeGreaterThanOrEqual(2);
    for (const url of assetUrls) expect(readdirSync(folder)).toContain(url.replace(/^console\//, ''));
  });

  it('writes the API document and its overview', () => {
    expect(JSON.parse(read('openapi.json')).paths).toHaveProperty('/v1/validate');
    expect(read('llms.txt')).toContain('POST /v1/validate');
  });

  it('writes a page without inline code and inline styles', () => {
    expect(read('index.html')).not.toMatch(/<style|style=|<script(?![^>]*src=)| on\w+=/);
  });
});
