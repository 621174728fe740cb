import { existsSync } from 'node:fs';
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
