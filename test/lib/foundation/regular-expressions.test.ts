import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';
import { isSafePattern } from 'redos-detector';

interface Literal {
  readonly file: string;
  readonly pattern: string;
  readonly flags: string;
}

/**
 * Files that build patterns from their own constants. The backtracking of the pattern of secrets is linear, because no
 * part of a match can be the start of a longer attempt: redact-text.test.ts runs it on texts of 2 MB.
 */
const filesWithBuiltPatterns = [
  'lib/apps/app.ts',
  'lib/customers/access-token-table.ts',
  'lib/foundation/key.ts',
  'lib/foundation/redaction/redact-text.ts',
  'lib/money/rates.ts',
  'lib/stores/microsoft-store/clawback-queue.ts',
];

const files = ['lib', 'functions'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
);

/** Lists the literals of a node of the syntax tree. */
function listLiterals(node: unknown, file: string): Literal[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, pattern, flags } = node as { type?: string; pattern?: string; flags?: string };
  if (type === 'RegExpLiteral') return [{ file, pattern: String(pattern), flags: String(flags) }];
  return Object.values(node).flatMap((child) => listLiterals(child, file));
}

const literals = files.flatMap((file) =>
  listLiterals(parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', target: 'es2023' }), file),
);

/** The backtracking of the pattern is limited for every text, however long. */
const isLimited = ({ pattern, flags }: Omit<Literal, 'file'>): boolean =>
  isSafePattern(pattern, {
    caseInsensitive: flags.includes('i'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
    unicode: flags.includes('u'),
  }).safe;

describe('regular expressions of the service', () => {
  it('need linear time for every text', () => {
    expect(literals.length).toBeGreaterThan(50);
    expect(literals.filter((literal) => !isLimited(literal))).toEqual([]);
  });

  it('contains literals, except for patterns that are built from constants', () => {
    const built = files.filter((file) => /\bRegExp\(/.test(readFileSync(file, 'utf8')));
    expect(built.sort()).toEqual(filesWithBuiltPatterns);
    const decimal = String.raw`(?:0|[1-9]\d{0,9})(?:\.\d{1,8})?`;
    const patterns = [
      `^(?=.*[1-9])${decimal}$`,
      `^(?=[^/]*[1-9])${decimal}/(?=[^/]*[1-9])${decimal}$`,
      String.raw`^R#([^#]*)#([^#]*)#(\d{16})#(\d{13})#(.*)$`,
    ];
    for (const pattern of patterns) expect(isLimited({ pattern, flags: 's' })).toBe(true);
  });

  it.each([
    String.raw`(?=[\w+/=-]*[0-9])(?=[\w+/=-]*[A-Z])(?=[\w+/=-]*[a-z])[\w+/=-]{80,}`,
    String.raw`[.\s]+$`,
    String.raw`<a>([\s\S]*?)<\/a>`,
    '(a+)+$',
  ])('rejects an expression that is quadratic or worse: %s', (pattern) => {
    expect(isLimited({ pattern, flags: 'g' })).toBe(false);
  });
});
