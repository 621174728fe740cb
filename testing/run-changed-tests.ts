import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import * as v from 'valibot';
import { projectFolder } from '../infra/project-folder.ts';
import { secondMs } from '../lib/foundation/time.ts';
import { readTestGraph, selectRelatedTests } from './related-tests.ts';

/** The status and the duration of each test. */
const Records = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.tuple([v.number(), v.number()])));

/** Files that determine every test. */
const settings = [
  'jest.config.js',
  'package-lock.json',
  'testing/global-setup.ts',
  'testing/global-teardown.ts',
  'testing/slow-tests-first.js',
  'tsconfig.json',
];

/** Two workers run these tests, start included, in about 30 s. */
const budgetMs = 40 * secondMs;

const args = process.argv.slice(2);
const [base = findBase()] = args.filter((arg) => !arg.startsWith('-'));
const jestOptions = args.filter((arg) => arg.startsWith('-'));
const changed = listChangedFiles(base);
const { selected, remaining, untested } = selectRelatedTests(readTestGraph(projectFolder), changed, {
  budgetMs,
  durationsMs: readDurations(),
});
console.log(`${changed.length} changed files since ${base}: ${selected.length} related tests.`);
if (remaining.length > 0)
  console.log(`Not run: ${remaining.length} further tests that depend on the change. npm test runs them:`);
for (const test of remaining) console.log(`  ${test}`);
for (const file of changed.filter((name) => settings.includes(name)))
  console.log(`${file} determines every test. Run npm test.`);
if (selected.length > 0) process.exitCode = await runTests(selected);
const untestedSources = untested.filter((name) => !settings.includes(name));
for (const file of untestedSources) console.error(`No test depends on ${file}.`);
if (untestedSources.length > 0) process.exitCode ||= 1;

/** Finds the commit at which this branch left main. On main, the last commit that was pushed, or the last commit. */
function findBase(): string {
  for (const branch of ['origin/main', 'main', 'HEAD']) {
    try {
      return git('merge-base', 'HEAD', branch).trim();
    } catch {
      // The branch does not exist in this clone.
    }
  }
  throw new Error('The folder is not a clone with git. Run npm test.');
}

/** Lists the files that differ from the commit, committed or not, and new files. */
function listChangedFiles(commit: string): string[] {
  const listed = [git('diff', '--name-only', commit), git('ls-files', '--others', '--exclude-standard')];
  return [...new Set(listed.flatMap((text) => text.split('\n')).filter((name) => name !== ''))];
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: projectFolder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Reads the durations that jest recorded in earlier runs. */
function readDurations(): ReadonlyMap<string, number> {
  const folder = join(projectFolder, 'node_modules', '.cache', 'jest');
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('perf-cache-')) : [];
  const records = files.flatMap((name) => Object.entries(v.parse(Records, readFileSync(join(folder, name), 'utf8'))));
  return new Map(records.map(([test, [, durationMs]]) => [relative(projectFolder, test), durationMs] as const));
}

async function runTests(tests: readonly string[]): Promise<number> {
  const jestArguments = ['--runTestsByPath', ...tests, ...jestOptions];
  const running = spawn('npm', ['test', '--', ...jestArguments], { cwd: projectFolder, stdio: 'inherit' });
  const [code] = (await once(running, 'exit')) as [number | null];
  return code ?? 1;
}
