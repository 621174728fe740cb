import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { locateJsonError } from '../../cli/locate-json-error.ts';
import { sampleRuns } from '../../testing/sample.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('locateJsonError', () => {
  it.each([
    ['', 1, 1],
    ['{', 1, 2],
    ['{"a":1,}', 1, 8],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{"a":[1,2}', 1, 10],
    ['{"a":01}', 1, 7],
    ['{"a":1} x', 1, 9],
    ["{'a':1}", 1, 2],
    ['{"a":"x\ty"}', 1, 6],
    ['{"a" 1}', 1, 6],
    ['{"a":tru}', 1, 6],
    ['[1,]', 1, 4],
  ])('returns the position in %j', (text, line, column) => {
    expect(locateJsonError(text)).toEqual({ line, column });
  });

  it('returns a position for exactly the texts that JSON.parse rejects', () => {
    const changed = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '{', ']', '1', '\\', '\n', 'e', '.', '-', ':'))
      .map(([json, at, inserted]) => {
        const index = at % (json.length + 1);
        return json.slice(0, index) + inserted + json.slice(index + (inserted === '' ? 1 : 0));
      });
    fc.assert(
      fc.property(changed, (text) => {
        expect(locateJsonError(text) === undefined).toBe(isJson(text));
      }),
      sampleRuns({ sample: 200, full: 5_000 }),
    );
  });

  it('reads a text that is nested deeply', () => {
    expect(locateJsonError('['.repeat(100_000))).toEqual({ line: 1, column: 100_001 });
  });
});
