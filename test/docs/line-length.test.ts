import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listDocuments } from '../../testing/documents.ts';

const folders = [
  'bench',
  'cli',
  'console',
  'emulator',
  'functions',
  'infra',
  'lib',
  'local',
  'packages',
  'test',
  'testing',
];
const sources = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/node_modules|dist\//.test(name) && name !== 'server/types.ts')
    .map((name) => join(folder, name)),
);

/** Lists the lines that are too long, with file and line. */
const listLongLines = (file: string, isTooLong: (line: string) => boolean): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => (isTooLong(line) ? [`${file}:${index + 1} ${line}`] : []));

/** A comment without code before it. */
const comment = /^\s*(?:\/\/|\/?\*)/;

/** Comments that cannot be wrapped: a URL alone, a suppression of the linter, a table with aligned columns. */
const unwrappable = /^\s*(?:\/\/|\*) (?:(?:@see )?https?:\S+$|biome-ignore)|\S {3,}\S/;

describe('comments of the source', () => {
  it('fit into 120 columns', () => {
    expect(sources.length).toBeGreaterThan(500);
    const isTooLong = (line: string) => line.length > 120 && comment.test(line) && !unwrappable.test(line);
    expect(sources.flatMap((file) => listLongLines(file, isTooLong))).toEqual([]);
  });
});

/** Replaces code blocks and generated tables by as many empty lines, and URLs by nothing. */
const omitFreeText = (text: string): string =>
  text
    .replaceAll(/^( *)```[\s\S]*?^\1```$|<!-- (?:results|machine):[\s\S]*?<!-- end -->/gm, (block) =>
      block.replaceAll(/.+/g, ''),
    )
    .replaceAll(/https?:[^\s)]+/g, '');

describe('README.md', () => {
  it('contains at most 600 words', () => {
    expect(readFileSync('README.md', 'utf8').trim().split(/\s+/).length).toBeLessThanOrEqual(600);
  });
});

describe.each(listDocuments())('%s', (file) => {
  it('contains no line of more than 160 characters', () => {
    const lines = omitFreeText(readFileSync(file, 'utf8')).split('\n');
    const longLines = lines.flatMap((line, index) => (line.length > 160 ? [`${index + 1}: ${line}`] : []));
    expect(longLines).toEqual([]);
  });
});
