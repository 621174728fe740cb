import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listAnchors, listDocuments, listInlineCode, listRelativeLinks } from '../../testing/documents.ts';

/** Paths that documents name although the repository lacks them: made at run time, or by the reader. */
const createdPaths: ReadonlySet<string> = new Set([
  'cdk.context.json',
  'dist/',
  'dist/docs/',
  'dist/release',
  'dist/source-maps',
  'lib/foundation/table.ts:101:45', // The example of a position in a stack trace.
]);

const folders = 'bench|cli|console|dist|docs|emulator|functions|infra|lib|local|packages|test|testing|\\.ci';
const pathPattern = new RegExp(`^(?:(?:${folders})/[\\w./:-]*|[\\w.-]+\\.(?:ts|tsx|md|json))$`);

/** Names of files that exist in several folders or in the project of the reader. */
const isFileName = (text: string): boolean => !text.includes('/') && !existsSync(text);

/** Documents about the code itself. */
const codeDocuments = ['docs/architecture.md', 'docs/data-flow.md', 'console/README.md'];

const codeFolders = ['bench', 'cli', 'console', 'emulator', 'functions', 'infra', 'lib', 'local', 'test', 'testing'];

/** Returns the words of all sources without their comments, and the names of their files. */
function listSourceWords(): Set<string> {
  const files = codeFolders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:tsx?|css)$/.test(name) && !/node_modules|dist\//.test(name))
      .map((name) => join(folder, name)),
  );
  const toCode = (file: string): string => readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '');
  return new Set(files.flatMap((file) => `${file} ${toCode(file)}`.match(/\w+(?:-\w+)*/g) ?? []));
}

describe('documents about the code', () => {
  it('name functions, types, files and folders that exist', () => {
    const words = listSourceWords();
    const names = codeDocuments
      .flatMap(listInlineCode)
      .flatMap((text) => text.match(/^[\w.()-]+$/)?.[0].split(/[.()]/) ?? []);
    const isCodeName = (name: string): boolean => /[a-z][A-Z]|^[a-z]+(?:-[a-z]+)+$/.test(name);
    expect(names.filter((name) => isCodeName(name) && !words.has(name))).toEqual([]);
  });
});

describe.each(listDocuments())('%s', (file) => {
  it('links to files and headings that exist', () => {
    const links = listRelativeLinks(file);
    expect(links.filter(({ target }) => !existsSync(target))).toEqual([]);
    const anchored = links.filter(({ target, anchor }) => anchor !== undefined && target.endsWith('.md'));
    expect(anchored.filter(({ target, anchor = '' }) => !listAnchors(target).includes(anchor))).toEqual([]);
  });

  // The changelog names files as they were.
  if (file !== 'CHANGELOG.md')
    it('names paths that exist', () => {
      const paths = listInlineCode(file).filter((text) => pathPattern.test(text) && !isFileName(text));
      expect(paths.filter((path) => !createdPaths.has(path) && !existsSync(path))).toEqual([]);
    });
});

describe('docs/README.md', () => {
  it('leads to every document of the repository', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file) || !existsSync(file)) return;
      reached.add(file);
      if (!file.endsWith('.md')) return;
      for (const { target } of listRelativeLinks(file)) visit(target);
    };
    visit('docs/README.md');
    expect(listDocuments().filter((file) => !reached.has(file))).toEqual([]);
  });
});
