import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { selectRelatedTests } from '../../testing/related-tests.ts';

const sources: Readonly<Record<string, string>> = {
  'lib/purchases/merge.ts': '',
  'lib/purchases/claims.ts': "import { merge } from './merge.ts';",
  'lib/db/table.ts': "import type { Claim } from '../purchases/claims.ts';",
  'functions/get-purchase.ts': "import { table } from '../lib/db/table.ts';",
  'local/start-local.ts': "import { table } from '../lib/db/table.ts';",
  'testing/call.ts': 'const module = await import(path);',
  'test/lib/purchases/merge.test.ts': "import { merge } from '../../../lib/purchases/merge.ts';",
  'test/lib/purchases/other.test.ts': '',
  'test/lib/db/table.test.ts': "import { table } from '../../../lib/db/table.ts';",
  'test/lib/unrelated.test.ts': '',
  'test/functions/get-purchase.test.ts': "import { call } from '../../testing/call.ts';",
  'test/local/start-local.test.ts': "import { startLocal } from '../../local/start-local.ts';",
  'test/acceptance/service.test.ts':
    "import { startLocal } from '../../local/start-local.ts'; import '../../lib/purchases/merge.ts';",
  'test/infra/guide.test.ts': "readFileSync('docs/guide.md', 'utf8')",
};

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'claimcheck-test-'));
  for (const [path, content] of Object.entries(sources)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), content);
  }
});
afterAll(() => rmSync(project, { recursive: true }));

const select = (changed: readonly string[], budgetMs = 60_000, durations: Readonly<Record<string, number>> = {}) =>
  selectRelatedTests(project, changed, { budgetMs, durationsMs: new Map(Object.entries(durations)) });

describe('selectRelatedTests', () => {
  it('selects tests by name, folder and imports, the closest first, without suites that start the service', () => {
    expect(select(['lib/purchases/merge.ts'])).toEqual({
      selected: ['test/lib/purchases/merge.test.ts', 'test/lib/purchases/other.test.ts', 'test/lib/db/table.test.ts'],
      remaining: ['test/acceptance/service.test.ts', 'test/local/start-local.test.ts'],
    });
  });

  it('selects a suite that starts the service if it is the one of the changed file, or changed', () => {
    expect(select(['local/start-local.ts']).selected).toEqual(['test/local/start-local.test.ts']);
    expect(select(['test/acceptance/service.test.ts'], 0).selected).toEqual(['test/acceptance/service.test.ts']);
  });

  it('selects the test of a handler, which the test imports by its name at run time', () => {
    expect(select(['functions/get-purchase.ts']).selected).toEqual(['test/functions/get-purchase.test.ts']);
  });

  it('selects the tests that read a changed document', () => {
    expect(select(['docs/guide.md']).selected).toEqual(['test/infra/guide.test.ts']);
  });

  it('selects tests until the sum of their recorded durations reaches the budget, and returns the remaining ones', () => {
    const durations = { 'test/lib/purchases/merge.test.ts': 100, 'test/lib/purchases/other.test.ts': 5_000 };
    const { selected, remaining } = select(['lib/purchases/merge.ts'], 2_000, {
      ...durations,
      'test/lib/db/table.test.ts': 900,
    });
    expect(selected).toEqual(['test/lib/purchases/merge.test.ts', 'test/lib/db/table.test.ts']);
    expect(remaining).toContain('test/lib/purchases/other.test.ts');
  });

  it('selects a test that takes more than half of the budget only by its name or folder', () => {
    const durations = { 'test/lib/purchases/merge.test.ts': 100, 'test/lib/purchases/other.test.ts': 1_100 };
    const { selected, remaining } = select(['lib/purchases/merge.ts'], 2_000, {
      ...durations,
      'test/lib/db/table.test.ts': 1_100,
    });
    expect(selected).toEqual(['test/lib/purchases/merge.test.ts', 'test/lib/purchases/other.test.ts']);
    expect(remaining).toContain('test/lib/db/table.test.ts');
  });

  it('selects nothing for a file that no test depends on', () => {
    expect(select(['LICENSE'])).toEqual({ selected: [], remaining: [] });
  });
});
