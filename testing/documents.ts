import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { toAnchor } from '../infra/site/anchor.ts';

/** A fenced code block of a document. */
export interface CodeBlock {
  readonly file: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** Language, or an empty string. */
  readonly language: string;
  /** `name=…` of the opening fence: a test reads the block with `readSnippet`. */
  readonly name: string | undefined;
  /** Content without the indentation of the fence. */
  readonly text: string;
}

/** A link of a document to another document or file of the repository. */
export interface RelativeLink {
  readonly file: string;
  /** Path from the root of the repository. */
  readonly target: string;
  /** Anchor without `#`, or undefined. */
  readonly anchor: string | undefined;
}

const fence = /^( *)```(\S*)([^\n]*)\n([\s\S]*?)^\1```$/gm;

const listMarkdown = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

/** Lists the documents of the repository, with paths from its root. */
export const listDocuments = (): string[] =>
  [
    '.',
    'bench',
    'console',
    'docs',
    'docs/decisions',
    'docs/guides',
    'docs/operating',
    'docs/stores',
    'packages/server',
    'packages/server-python',
  ].flatMap(listMarkdown);

export const readDocument = (file: string): string => readFileSync(file, 'utf8');

/** Lists the code blocks of a document. */
export function listCodeBlocks(file: string): CodeBlock[] {
  const document = readDocument(file);
  return [...document.matchAll(fence)].map(([, indent = '', language = '', attributes = '', text = ''], index) => ({
    file,
    line: document.slice(0, [...document.matchAll(fence)][index]?.index).split('\n').length,
    language,
    name: /\bname=(\S+)/.exec(attributes)?.[1],
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Returns the content of a named code block. Throws if the document lacks it, or has several blocks of the name. */
export function readSnippet(file: string, name: string): string {
  const [block, ...others] = listCodeBlocks(file).filter((candidate) => candidate.name === name);
  if (!block || others.length > 0) throw new Error(`${file} must have exactly one code block with name=${name}.`);
  return block.text;
}

/** Returns a named code block of a page, or a file of `docs/samples`. */
export const readSample = (file: string, name: string): string =>
  file.endsWith('.md') ? readSnippet(file, name) : readDocument(file);

/** Returns the text of a document without its code blocks. */
export const readProse = (file: string): string => readDocument(file).replaceAll(fence, '');

/** Lists the texts in backticks outside of code blocks. A text may continue on the next line. */
export const listInlineCode = (file: string): string[] =>
  [...readProse(file).matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll(/\s+/g, ' '));

/** Lists the links and images of a document that are paths of the repository or anchors of the document. */
export const listRelativeLinks = (file: string): RelativeLink[] =>
  [...readProse(file).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((link) => {
      const [path = '', anchor] = link.split('#');
      return { file, target: path === '' ? file : normalize(join(dirname(file), path)), anchor };
    });

/** Lists the anchors of the headings of a document. */
export function listAnchors(file: string): string[] {
  const counts = new Map<string, number>();
  return listHeadings(readProse(file)).map(({ title }) => toAnchor(title, counts));
}

/** Lists the headings of a text with their level, 1 to 6. */
export const listHeadings = (text: string): { readonly level: number; readonly title: string }[] =>
  [...text.matchAll(/^(#{1,6}) (.+)$/gm)].map(([, marks = '', title = '']) => ({ level: marks.length, title }));

/** Returns the text between a heading and the next heading of the same or a higher level. Throws if it is missing. */
export function readSection(file: string, title: string): string {
  const lines = readDocument(file).split('\n');
  const start = lines.findIndex((line) => /^#{1,6} /.test(line) && line.replace(/^#+ /, '') === title);
  if (start < 0) throw new Error(`${file} lacks the heading "${title}".`);
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 1;
  const end = lines.findIndex((line, index) => index > start && new RegExp(`^#{1,${level}} `).test(line));
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n');
}

/** Returns the cells of the rows of all tables in a text, without the header rows. */
export const listTableRows = (text: string): string[][] =>
  text
    .split(/\n(?!\|)/)
    .map((part) => part.split('\n').filter((line) => line.startsWith('|')))
    .flatMap((lines) => lines.slice(2))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );

/** Returns the items of all lists with `-` in a text, each on one line. */
export const listItems = (text: string): string[] =>
  [...text.matchAll(/^- (.+(?:\n {2}.+)*)/gm)].map(([, item = '']) => item.replaceAll(/\n +/g, ' '));
