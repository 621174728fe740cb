import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readSection } from '../../testing/documents.ts';

interface Boundary {
  readonly name: string;
  readonly pattern: string;
  readonly allow: readonly string[];
  readonly deny?: readonly string[];
}

const config = readFileSync('rev-dep.config.jsonc', 'utf8').replace(/^\/\/.*$/gm, '');
const { moduleBoundaries } = JSON.parse(config).rules[0] as { readonly moduleBoundaries: readonly Boundary[] };

/** The adapters of `lib/stores` have their own walls. */
const isAdapter = ({ name }: Boundary): boolean => name.startsWith('lib/stores/');
const layers = moduleBoundaries.filter((boundary) => !isAdapter(boundary));
const names = layers.map(({ name }) => name);

const listFolders = (parent: string): string[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

/** Folders without sources. */
const otherFolders = ['lib', 'docs', 'dist', 'node_modules', 'cdk.out', 'coverage'];

const toFolder = (pattern: string): string => pattern.replace(/\/\*\*$/, '');

/** The text of a folder in the table: folders of `lib` without their parent. */
const toText = (pattern: string): string => `\`${toFolder(pattern).replace(/^lib\/(?=[^*]+$)/, '')}\``;

/** The imports that every folder may have, from the text below the table. */
const foundation = ['lib/foundation/**'];

const toRow = ({ name, allow, deny }: Boundary): string => {
  const imported = allow.filter((pattern) => toFolder(pattern) !== name && !foundation.includes(pattern)).map(toText);
  const denied = deny ? `; not ${deny.map(toText).join(', ')}` : '';
  return `${imported.join(', ') || 'nothing'}${denied}`;
};

/** The rows of the table of layers: folder and what it may import. */
function listTableRows(): string[][] {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const section = page.slice(page.indexOf('\n## Layers\n'), page.indexOf('\n## ', page.indexOf('\n## Layers\n') + 1));
  return [...section.matchAll(/^\| +[\w ]*\| `([^`]+)` +\| (.*?) +\|$/gm)].map(([, name = '', imports = '']) => [
    name,
    imports,
  ]);
}

describe('list of layers', () => {
  it('contains each folder with sources once', () => {
    const topFolders = listFolders('.').filter((name) => !name.startsWith('.') && !otherFolders.includes(name));
    const folders = [...listFolders('lib').map((name) => `lib/${name}`), ...topFolders];
    expect(names.toSorted()).toEqual(folders.toSorted());
    expect(layers.every(({ name, pattern }) => pattern === `${name}/**`)).toBe(true);
  });

  it('lets a folder import only folders before it', () => {
    const upward = layers.flatMap(({ name, allow }, index) => {
      const allowed = [...names.slice(0, index + 1), 'lib'];
      return allow
        .filter((pattern) => !allowed.some((folder) => pattern.startsWith(`${folder}/`)))
        .map((pattern) => `${name} → ${pattern}`);
    });
    // Shared support of tests, which no source of the emulator imports: see `restrictedImportsDetection`.
    expect(upward).toEqual(
      ['sample', 'run-keys', 'start-before-all', 'vectors'].map((file) => `emulator → testing/${file}.ts`),
    );
  });

  it('lets no folder of lib import from outside of lib', () => {
    const inLib = moduleBoundaries.filter(({ name }) => name.startsWith('lib/'));
    expect(inLib.flatMap(({ allow }) => allow).filter((pattern) => !pattern.startsWith('lib/'))).toEqual([]);
  });

  it('separates the adapters of the stores', () => {
    const brands = listFolders('lib/stores');
    const adapters = moduleBoundaries.filter(isAdapter);
    expect(adapters.map(({ pattern }) => pattern).toSorted()).toEqual(
      brands.map((brand) => `lib/stores/${brand}/**`).toSorted(),
    );
    for (const { pattern, deny } of adapters)
      expect([...(deny ?? []), pattern].toSorted()).toEqual(brands.map((brand) => `lib/stores/${brand}/**`).toSorted());
  });

  it('equals the table of layers in docs/architecture.md', () => {
    expect(listTableRows()).toEqual(layers.map((layer) => [layer.name, toRow(layer)]));
  });

  it('contains the folders of docs/map.md', () => {
    const map = readSection('docs/map.md', 'Folders');
    const cells = [...map.matchAll(/^\| (`[^|]*`) +\|/gm)].flatMap(([, cell = '']) => cell.split(', '));
    const folders = cells.map((cell) => cell.replaceAll('`', '').replace(/\/$/, ''));
    expect(folders.filter((folder) => folder !== 'docs').toSorted()).toEqual(names.toSorted());
  });
});
