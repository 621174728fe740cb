import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readSection } from '../../testing/documents.ts';

interface ReadingPath {
  readonly title: string;
  /** The number of files that the text states. */
  readonly count: number;
  readonly files: readonly string[];
}

/** Reads `- <title>, <count> files. <folder>: <name>, <name>; <folder>: …`. */
function toReadingPath(item: string): ReadingPath {
  const [, title = '', count, list = ''] = /^(.*?), (\d+) files\. (.*)\.$/.exec(item) ?? [];
  const files = list.split('; ').flatMap((part) => {
    const [folder = '', names = ''] = part.replaceAll('`', '').split(': ');
    return names.split(', ').map((name) => `${folder}/${name}.ts`);
  });
  return { title, count: Number(count), files };
}

const section = readSection('docs/data-flow.md', 'Reading paths');
const [, ...items] = section.split('\n- ').map((item) => item.trim().replaceAll(/\s+/g, ' '));
const paths = items.map(toReadingPath);

describe('reading paths of docs/data-flow.md', () => {
  it('cover a validation, a notification and a statement about a refund', () => {
    expect(paths).toHaveLength(3);
  });

  it.each(paths)('$title: name $count files that exist', ({ count, files }) => {
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect(new Set(files).size).toBe(count);
  });
});
