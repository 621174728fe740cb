import { describe, expect, it } from '@jest/globals';
import { toVisibleText } from '../../console/visible-text.ts';

describe('toVisibleText', () => {
  it.each([
    ['a change of direction', '\u202egnp.exe\u202c', '⟨U+202E⟩gnp.exe⟨U+202C⟩'],
    ['an isolate', 'a\u2067b\u2069', 'a⟨U+2067⟩b⟨U+2069⟩'],
    ['a character without width', 'ali\u200bce', 'ali⟨U+200B⟩ce'],
    ['a joiner in Latin letters', 'ali\u200dce', 'ali⟨U+200D⟩ce'],
    ['a control character', 'a\u0007b\u0000', 'a⟨U+0007⟩b⟨U+0000⟩'],
    ['a byte order mark', '\ufeffalice', '⟨U+FEFF⟩alice'],
  ])('shows %s', (_name, text, visible) => {
    expect(toVisibleText(text)).toBe(visible);
  });

  it.each(['alice', 'שלום', 'नमस्\u200dते', '👩\u200d💻', 'two\nlines\tof text', 'می\u200cخواهم'])('keeps %j', (text) => {
    expect(toVisibleText(text)).toBe(text);
  });
});
