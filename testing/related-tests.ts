import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, parse } from 'node:path';

/** Folders with sources and tests. */
const folders = ['bench', 'cli', 'console', 'emulator', 'functions', 'infra', 'lib', 'local', 'test', 'testing'];
/** Modules that start the whole service. A suite that imports one is slow. */
const serviceModules = ['local/start-local.ts', 'local/start.ts'];
/** Assumed durations of tests without a recorded one. */
const defaultDurationsMs = { slow: 30_000, table: 10_000, other: 1_500 };
/** Suites that start services, browsers or synthesize the stack. */
const slowFolders = /^test\/(acceptance|console|infra|local)\//;
const tableModule = 'testing/table.ts';

interface Options {
  /** Maximum sum of the durations of the selected tests. Changed tests are selected above it, too. */
  readonly budgetMs: number;
  /** Recorded durations by the path of the test. */
  readonly durationsMs?: ReadonlyMap<string, number>;
}

/** Tests to run after a change. */
interface RelatedTests {
  readonly selected: readonly string[];
  /** Tests that also depend on the change, and that only the whole run includes. */
  readonly remaining: readonly string[];
}

/** How close a test is to the change. Imports count from `imported`: a test that imports a changed file directly is 3. */
const ranks = { changed: 0, sameName: 1, sameFolder: 2, imported: 2 };

/**
 * Selects the tests closest to the changed files within the budget: changed tests, then those with the name of a changed
 * file, then those in its folder below test/, then by the number of imports between test and file, each with the quickest
 * first. A suite that starts the whole service, or that takes more than half of the budget, has to have the name or be in the
 * folder of the change: the other worker would wait for it. A file that a test names by its path, such as documentation, counts
 * as an import. Paths are relative to the project.
 */
export function selectRelatedTests(
  project: string,
  changed: readonly string[],
  { budgetMs, durationsMs = new Map() }: Options,
): RelatedTests {
  const files = folders.flatMap((folder) => listFiles(project, folder));
  const importers = invert(new Map(files.map((file) => [file, listReferences(project, file)] as const)));
  const distances = computeDistances(importers, changed);
  const serviceTests = computeDistances(importers, serviceModules);
  const tableTests = computeDistances(importers, [tableModule]);
  const estimate = (test: string): number => {
    if (slowFolders.test(test)) return defaultDurationsMs.slow;
    return tableTests.has(test) ? defaultDurationsMs.table : defaultDurationsMs.other;
  };
  const getDuration = (test: string): number => durationsMs.get(test) ?? estimate(test);

  const related = files
    .filter(isTest)
    .map((test) => ({ test, rank: rankTest(test, changed, distances.get(test)), duration: getDuration(test) }))
    .filter(({ rank }) => Number.isFinite(rank))
    .sort((a, b) => a.rank - b.rank || a.duration - b.duration);
  const selected = new Set<string>();
  let sumMs = 0;
  for (const { test, rank, duration } of related) {
    const isOptional = rank > ranks.changed;
    const isDelaying = rank > ranks.sameFolder && (serviceTests.has(test) || duration > budgetMs / 2);
    if (isOptional && (sumMs + duration > budgetMs || isDelaying)) continue;
    selected.add(test);
    sumMs += duration;
  }
  return { selected: [...selected], remaining: related.map(({ test }) => test).filter((test) => !selected.has(test)) };
}

function rankTest(test: string, changed: readonly string[], distance = Number.POSITIVE_INFINITY): number {
  const sources = changed.filter((file) => !file.startsWith('test') && /\.tsx?$/.test(file));
  if (changed.includes(test)) return ranks.changed;
  if (sources.some((file) => parse(file).name === basename(test, '.test.ts'))) return ranks.sameName;
  if (sources.some((file) => join('test', dirname(file)) === dirname(test))) return ranks.sameFolder;
  return ranks.imported + distance;
}

const isTest = (file: string): boolean => file.endsWith('.test.ts');

function listFiles(project: string, folder: string): string[] {
  if (!existsSync(join(project, folder))) return [];
  return readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));
}

/** Lists the files that a file imports, and the files of the project that it names by their path, such as documentation. */
function listReferences(project: string, file: string): string[] {
  const source = readFileSync(join(project, file), 'utf8');
  const imported = [...source.matchAll(/(?:from|import\(?)\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
  const named = isTest(file)
    ? [...source.matchAll(/['"`/]([\w./-]+\.(?:md|json|yml|js|css|html))['"`]/g)].map(([, path = '']) =>
        normalize(path),
      )
    : [];
  return [...imported, ...named];
}

function invert(imports: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, paths] of imports)
    for (const path of paths) importers.set(path, [...(importers.get(path) ?? []), file]);
  return importers;
}

/** Computes the number of imports between the given files and every file that depends on them. */
function computeDistances(
  importers: ReadonlyMap<string, readonly string[]>,
  from: readonly string[],
): ReadonlyMap<string, number> {
  const distances = new Map(from.map((file) => [file, 0]));
  // The map grows while it is read: nearer files come first.
  for (const [file, distance] of distances)
    for (const importer of importers.get(file) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}
