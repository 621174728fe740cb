import { describe, expect, it } from '@jest/globals';
import { quotingPages } from '../../bench/results.ts';
import { listDocuments, readProse } from '../../testing/documents.ts';

/** A duration, a size or a price, as only a measurement or a price list gives it. */
const figure = /\d ?(?:ms|kB|dollars|cents)\b|\$\d/;

/** What proves a figure: the command that prints it, a test that compares it, or its source. */
const proof = /`npm run |\btest\b|\]\(https:/;

/** Documents whose figures are not of their time. `test/bench/results.test.ts` checks the pages that quote results. */
const isChecked = (file: string): boolean =>
  !quotingPages.includes(file) && file !== 'CHANGELOG.md' && !file.startsWith('docs/decisions/');

describe.each(listDocuments().filter(isChecked))('%s', (file) => {
  it('names the command or the source of each figure', () => {
    const paragraphs = readProse(file).split(/\n\n|\n(?=\|)/);
    expect(paragraphs.filter((text) => figure.test(text) && !proof.test(text))).toEqual([]);
  });
});
