import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { listTableRows, readSection } from '../../testing/documents.ts';

const rows = listTableRows(readSection('SECURITY.md', 'Threats and defences'));

/** The source of a test without the escapes of its strings. */
const readTitles = (file: string): string => readFileSync(file, 'utf8').replaceAll('\\', '');

describe('SECURITY.md', () => {
  it.each(rows.map((row) => [row[0] ?? '', row[1] ?? '', row[3] ?? '']))(
    'names the test for: %s, %s',
    (_threat, _attack, cell) => {
      const [, file = '', title = ''] = /^`([^`]+)`: "(.+)"$/.exec(cell) ?? [];
      expect(existsSync(file)).toBe(true);
      const titles = readTitles(file);
      const isTitle = ["'", '"', '`'].some((quote) => titles.includes(`${quote}${title}${quote}`));
      expect({ file, title, isTitle }).toEqual({ file, title, isTitle: true });
    },
  );

  it('covers each threat of the model', () => {
    const threats = [
      'Receipt replay',
      'Stolen public key',
      'Forged notification',
      'SSRF',
      'Tenant crossing',
      'Log leakage',
      'Nonce replay',
      'Floods',
    ];
    const documented = new Set(rows.map(([threat]) => threat));
    expect(threats.filter((threat) => !documented.has(threat))).toEqual([]);
  });
});
