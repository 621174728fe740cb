import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { listItems, readSection } from '../../testing/documents.ts';

const threats = listItems(readSection('SECURITY.md', 'Threats and defences')).map((item) => {
  const [, threat = '', attack = '', file = '', title = ''] =
    /^\*\*(.+?)\.\*\* (.+?) Defence: .+ Test: `([^`]+)`: "(.+)"$/.exec(item) ?? [];
  return { threat, attack, file, title };
});

/** The source of a test without the escapes of its strings. */
const readTitles = (file: string): string => readFileSync(file, 'utf8').replaceAll('\\', '');

describe('SECURITY.md', () => {
  it.each(threats)('names the test for: $threat, $attack', ({ file, title }) => {
    expect(existsSync(file)).toBe(true);
    const titles = readTitles(file);
    const isTitle = ["'", '"', '`'].some((quote) => titles.includes(`${quote}${title}${quote}`));
    expect({ file, title, isTitle }).toEqual({ file, title, isTitle: true });
  });

  it('covers each threat of the model', () => {
    const expected = [
      'Receipt replay',
      'Stolen public key',
      'Forged notification',
      'SSRF',
      'Tenant crossing',
      'Log leakage',
      'Nonce replay',
      'Floods',
    ];
    const documented = new Set(threats.map(({ threat }) => threat));
    expect(expected.filter((threat) => !documented.has(threat))).toEqual([]);
  });
});
