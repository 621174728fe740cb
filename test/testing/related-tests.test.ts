import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectFolder } from '../../infra/project-folder.ts';
import { readTestGraph, selectRelatedTests } from '../../testing/related-tests.ts';

const sources: Readonly<Record<string, string>> = {
  'lib/purchases/merge.ts': '',
  'lib/purchases/claims.ts': "import { merge } from './merge.ts';",
  'lib/db/table.ts': "import type { Claim } from '../purchases/claims.ts';",
  'lib/purchases/contract.ts': 'export const getPurchase = {};',
  'functions/purchases/get-purchase.ts': "import { getPurchase } from '../../lib/purchases/contract.ts';",
  'local/start-local.ts': "import { table } from '../lib/db/table.ts';",
  'testing/call.ts': 'const module = await import(path);',
  'test/lib/purchases/merge.test.ts': "import { merge } from '../../../lib/purchases/merge.ts';",
  'test/lib/purchases/other.test.ts': '',
  'test/lib/db/table.test.ts': "import { table } from '../../../lib/db/table.ts';",
  'test/lib/unrelated.test.ts': '',
  'lib/unused.ts': '',
  'test/functions/get-purchase.test.ts': "import { getPurchase } from '../../lib/purchases/contract.ts';",
  'test/contract/access.test.ts': "import { getPurchase, type Other } from '../../lib/purchases/contract.ts';",
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
  selectRelatedTests(readTestGraph(project), changed, { budgetMs, durationsMs: new Map(Object.entries(durations)) });

describe('selectRelatedTests', () => {
  it('selects tests by name, folder and imports, the closest first, without suites that start the service', () => {
    expect(select(['lib/purchases/merge.ts'])).toEqual({
      selected: ['test/lib/purchases/merge.test.ts', 'test/lib/purchases/other.test.ts', 'test/lib/db/table.test.ts'],
      remaining: ['test/acceptance/service.test.ts', 'test/local/start-local.test.ts'],
      untested: [],
    });
  });

  it('selects a suite that starts the service if it is the one of the changed file, or changed', () => {
    expect(select(['local/start-local.ts']).selected).toEqual(['test/local/start-local.test.ts']);
    expect(select(['test/acceptance/service.test.ts'], 0).selected).toEqual(['test/acceptance/service.test.ts']);
  });

  it('selects the test of a handler, which the test imports by its name at run time', () => {
    expect(select(['functions/purchases/get-purchase.ts']).selected).toEqual([
      'test/functions/get-purchase.test.ts',
      'test/contract/access.test.ts',
    ]);
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

  it('selects the closest test of each changed source above the budget, too', () => {
    const durations = { 'test/acceptance/service.test.ts': 50_000, 'test/local/start-local.test.ts': 60_000 };
    const { selected, remaining } = select(['lib/db/table.ts', 'lib/purchases/merge.ts'], 0, durations);
    expect([...selected].sort()).toEqual(['test/lib/db/table.test.ts', 'test/lib/purchases/merge.test.ts']);
    expect(remaining).toContain('test/acceptance/service.test.ts');
  });

  it('returns the sources that no test depends on', () => {
    expect(select(['lib/unused.ts'])).toEqual({
      selected: ['test/lib/unrelated.test.ts'],
      remaining: [],
      untested: ['lib/unused.ts'],
    });
  });

  it('selects nothing for a document that no test reads', () => {
    expect(select(['LICENSE'])).toEqual({ selected: [], remaining: [], untested: [] });
  });
});

describe('selectRelatedTests in this project', () => {
  const graph = readTestGraph(projectFolder);
  const selectHere = (changed: readonly string[]) => selectRelatedTests(graph, changed, { budgetMs: 40_000 });

  it('finds a test for every source but the settings of jest, and scripts that are run by hand', () => {
    const { untested } = selectHere([...graph.sources]);
    // The programs of `npm run bench`.
    const isBenchmark = (file: string) => /^bench\/[^/]+$/.test(file);
    expect(untested.filter((file) => !isBenchmark(file)).sort()).toEqual([
      'infra/app.ts',
      'infra/write-openapi.ts',
      'infra/write-release.ts',
      'local/run-demo.ts',
      'testing/cache-compiled-code.js',
      'testing/check-commission-rates.ts',
      'testing/global-setup.ts',
      'testing/global-teardown.ts',
      'testing/make-screenshots.ts',
      'testing/record-api-examples.ts',
      'testing/record-stateful-resources.ts',
      'testing/run-changed-tests.ts',
      'testing/shorten-example.ts',
      'testing/slow-tests-first.js',
      'testing/test-environment.js',
      'testing/test-runner.js',
    ]);
  });

  it.each([
    ['console/pages/event.tsx', /^test\/console\//],
    ['console/components/chart.tsx', /^test\/console\//],
    ['console/styles.css', /^test\/console\//],
    ['functions/validation/verify-purchase.ts', /^test\/functions\/verify-purchase\.test\.ts$/],
    ['functions/customers/get-customer-timeline.ts', /^test\/functions\//],
    ['emulator/clock.ts', /^(test\/emulator|emulator\/test)\//],
    ['infra/operator-policy.ts', /^test\/infra\/operator-policy\.test\.ts$/],
    ['lib/purchases/claims.ts', /^test\/lib\/purchases\/claims\.test\.ts$/],
    ['cli/table.ts', /^test\/cli\/table\.test\.ts$/],
    ['local/iam-proxy.ts', /^test\/(local|acceptance)\//],
  ])('selects a test of %s in %s', (file, expected) => {
    expect(graph.sources).toContain(file);
    expect(selectHere([file]).selected).toContainEqual(expect.stringMatching(expected));
  });

  it.each([
    ['functions/workers/aggregate-statistics.ts', 'test/acceptance/webhooks.test.ts'],
    ['console/pages/event.tsx', 'test/console/browser.test.ts'],
    ['local/function-thread.ts', 'test/acceptance/webhooks.test.ts'],
    ['cli/app-commands.ts', 'test/acceptance/command-line.test.ts'],
  ])('finds that a change of %s reaches %s, through the bundles', (file, test) => {
    const { selected, remaining } = selectHere([file]);
    expect([...selected, ...remaining]).toContain(test);
  });
});
