/** A position in a text, both 1 at the start. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/**
 * Returns the position of the first character that makes a text invalid JSON. Undefined for valid JSON. The messages of
 * `JSON.parse` do not name a position on Node 20 and quote the text, which can contain secrets.
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
export function locateJsonError(text: string): TextPosition | undefined {
  const index = findErrorIndex(text);
  if (index === undefined) return undefined;
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings.
const stringPattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const scalarPattern = new RegExp(
  `${stringPattern.source}|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null`,
  'y',
);
const spacePattern = /[ \t\n\r]*/y;

/** What can follow at a position of the text. */
type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'commaOrEnd' | 'end';

/** Reads the text token by token. Does not recurse, because a text can be nested deeply. */
function findErrorIndex(text: string): number | undefined {
  const closers: string[] = [];
  let index = 0;
  let expected = 'value' as Expected;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = index;
    const length = pattern.exec(text)?.[0].length ?? 0;
    index += length;
    return length > 0;
  };
  const take = (character: string): boolean => {
    if (text[index] !== character) return false;
    index += 1;
    return true;
  };
  const finishValue = (): void => {
    expected = closers.length > 0 ? 'commaOrEnd' : 'end';
  };
  for (;;) {
    skip(spacePattern);
    if (expected === 'end') return index === text.length ? undefined : index;
    const closer = closers.at(-1) ?? '';
    if (expected !== 'value' && expected !== 'key' && closer !== '' && take(closer)) {
      closers.pop();
      finishValue();
    } else if (expected === 'commaOrEnd') {
      if (!take(',')) return index;
      expected = closer === '}' ? 'key' : 'value';
    } else if (expected === 'key' || expected === 'keyOrEnd') {
      if (!skip(stringPattern)) return index;
      skip(spacePattern);
      if (!take(':')) return index;
      expected = 'value';
    } else if (take('{')) {
      closers.push('}');
      expected = 'keyOrEnd';
    } else if (take('[')) {
      closers.push(']');
      expected = 'valueOrEnd';
    } else if (skip(scalarPattern)) finishValue();
    else return index;
  }
}
