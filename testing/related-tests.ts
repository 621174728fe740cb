import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, parse } from 'node:path';

/** Folders with sources and tests. */
const folders = ['bench', 'cli', 'console', 'emulator', 'functions', 'infra', 'lib', 'local', 'test', 'testing'];
const sourcePattern = /\.(?:tsx?|js|css|html)$/;

/** Modules that start the whole service. A suite that imports one is slow. */
const serviceModules = ['local/start-local.ts', 'local/run-service.ts'];

/** Assumed durations of tests without a recorded one. */
const defaultDurationsMs = { slow: 30_000, table: 10_000, other: 1_500 };

/** Suites that start services, browsers or synthesize the stack. */
const slowFolders = /^test\/(acceptance|console|infra|local)\//;
const tableModule = 'testing/table.ts';

/**
 * Folders that a file reads at run time, by the file. No import statement and no path in its source names their files.
 */
const loadedFolders: Readonly<Record<string, readonly string[]>> = {
  'infra/build-console.ts': ['console/'],
  'infra/build-functions.ts': ['functions/'],
  'infra/site/build-site.ts': ['console/site/'],
  'test/cli/bin.test.ts': ['cli/bin.js'],
};
const contractList = 'lib/contracts/index.ts';

/** Sources whose strings with paths are data. */
const withoutNamedFiles = ['testing/related-tests.ts', 'test/testing/related-tests.test.ts'];

interface Options {
  /** Maximum sum of the durations of the selected tests. `selected` says which tests are selected above it, too. */
  readonly budgetMs: number;
  /** Recorded durations by the path of the test. */
  readonly durationsMs?: ReadonlyMap<string, number>;
}

/** Tests to run after a change. */
interface RelatedTests {
  /**
   * The closest tests. Changed tests and the closest test of each changed source are selected above the budget, too.
   */
  readonly selected: readonly string[];
  /** Tests that also depend on the change, and that only the whole run includes. */
  readonly remaining: readonly string[];
  /** Changed sources that no test depends on. */
  readonly untested: readonly string[];
}

/** The files of a project and their references. */
export interface TestGraph {
  readonly sources: ReadonlySet<string>;
  readonly tests: readonly TestFile[];
  readonly importers: ReadonlyMap<string, readonly string[]>;
}

interface TestFile {
  readonly path: string;
  readonly folder: string;
  /** The name without `.test.ts`. */
  readonly name: string;
}

/**
 * How close a test is to the change. Imports count from `imported`: a test that imports a changed file directly is 3.
 */
const ranks = { changed: 0, sameName: 1, sameFolder: 2, imported: 2 };

/** Reads the sources of a project. Paths are relative to the project. */
export function readTestGraph(project: string): TestGraph {
  const files = folders.flatMap((folder) => listFiles(project, folder));
  const known = new Set(files);
  return {
    sources: new Set(files.filter((file) => !isTest(file) && !file.endsWith('.d.ts'))),
    tests: files.filter(isTest).map((path) => ({ path, folder: dirname(path), name: basename(path, '.test.ts') })),
    importers: invert(new Map(files.map((file) => [file, listReferences(project, file, known)]))),
  };
}

/**
 * Selects the tests closest to the changed files within the budget: changed tests, then those with the name of a
 * changed file, then those in its folder below test/, then by the number of imports between test and file, each with
 * the quickest first. A suite that starts the whole service, or that takes more than half of the budget, has to have
 * the name or be in the folder of the change: the other worker would wait for it. Each changed source has at least one
 * selected test, except if no test depends on it.
 */
export function selectRelatedTests(
  { sources, tests, importers }: TestGraph,
  changed: readonly string[],
  { budgetMs, durationsMs = new Map() }: Options,
): RelatedTests {
  const distances = computeDistances(importers, changed);
  const serviceTests = computeDistances(importers, serviceModules);
  const tableTests = computeDistances(importers, [tableModule]);
  const estimate = (test: string): number => {
    if (slowFolders.test(test)) return defaultDurationsMs.slow;
    return tableTests.has(test) ? defaultDurationsMs.table : defaultDurationsMs.other;
  };
  const getDuration = (test: string): number => durationsMs.get(test) ?? estimate(test);
  const sortRelated = (files: readonly string[], fileDistances: ReadonlyMap<string, number>): readonly RankedTest[] => {
    const rank = createRanking(files);
    return tests
      .map((test) => ({ test: test.path, rank: rank(test, fileDistances.get(test.path)) }))
      .filter(({ rank }) => Number.isFinite(rank))
      .map((ranked) => ({ ...ranked, duration: getDuration(ranked.test) }))
      .sort((a, b) => a.rank - b.rank || a.duration - b.duration);
  };

  const related = sortRelated(changed, distances);
  const closest = changed
    .filter((file) => sources.has(file))
    .map((file) => ({ file, distances: computeDistances(importers, [file]) }))
    .map(({ file, distances: fileDistances }) => ({
      file,
      isTested: tests.some(({ path }) => fileDistances.has(path)),
      test: chooseClosest(file, sortRelated([file], fileDistances)),
    }));
  const required = new Set(closest.map(({ test }) => test));
  const selected = new Set<string>();
  let sumMs = 0;
  for (const { test, rank, duration } of related) {
    const isOptional = rank > ranks.changed && !required.has(test);
    const isDelaying = rank > ranks.sameFolder && (serviceTests.has(test) || duration > budgetMs / 2);
    if (isOptional && (sumMs + duration > budgetMs || isDelaying)) continue;
    selected.add(test);
    sumMs += duration;
  }
  return {
    selected: [...selected],
    remaining: related.map(({ test }) => test).filter((test) => !selected.has(test)),
    untested: closest.flatMap(({ file, isTested }) => (isTested ? [] : [file])),
  };
}

interface RankedTest {
  readonly test: string;
  readonly rank: number;
  readonly duration: number;
}

/**
 * Chooses the first of the sorted tests, if possible among the tests of the same part of the project, such as
 * test/console.
 */
function chooseClosest(file: string, related: readonly RankedTest[]): string | undefined {
  const [part] = file.split('/');
  const ownTests = related.filter(({ test }) => test.startsWith(`test/${part}/`) || test.startsWith(`${part}/`));
  return (ownTests[0] ?? related[0])?.test;
}

/** Creates the function that ranks a test by its distance to the changed files. */
function createRanking(changed: readonly string[]): (test: TestFile, distance?: number) => number {
  const changedSources = changed.filter((file) => !file.startsWith('test') && /\.tsx?$/.test(file));
  const names = new Set(changedSources.map((file) => parse(file).name));
  const testFolders = new Set(changedSources.flatMap(listTestFolders));
  return ({ path, folder, name }, distance = Number.POSITIVE_INFINITY) => {
    if (changed.includes(path)) return ranks.changed;
    if (names.has(name)) return ranks.sameName;
    if (testFolders.has(folder)) return ranks.sameFolder;
    return ranks.imported + distance;
  };
}

/**
 * Lists the folders whose tests mirror the folder of a source: below test/, and below the test folder of a workspace.
 */
function listTestFolders(file: string): string[] {
  const [part = '', ...path] = dirname(file).split('/');
  return [join('test', part, ...path), join(part, 'test', ...path)];
}

const isTest = (file: string): boolean => file.endsWith('.test.ts');

function listFiles(project: string, folder: string): string[] {
  if (!existsSync(join(project, folder))) return [];
  return readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => sourcePattern.test(file) && !file.includes('node_modules/'))
    .map((file) => join(folder, file));
}

/** Lists the files that a file imports, that it names by their path, and that it loads in another way. */
function listReferences(project: string, file: string, known: ReadonlySet<string>): string[] {
  const source = readFileSync(join(project, file), 'utf8');
  const imported = [...source.matchAll(/(?:from|import\(?)\s*['"](\.[^'"]+)['"]/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
  const loaded = (loadedFolders[file] ?? []).flatMap((folder) => [...known].filter((path) => path.startsWith(folder)));
  return [...imported, ...listNamedFiles(file, source, known), ...loaded, ...listHandlers(file, source, known)];
}

/** Lists the sources that a file names by their path, and the documents that a test names. */
function listNamedFiles(file: string, source: string, known: ReadonlySet<string>): string[] {
  if (withoutNamedFiles.includes(file)) return [];
  const paths = [...source.matchAll(/['"`/]([\w./-]+\.(?:tsx?|md|json|yml|js|css|html))['"`/]/g)].flatMap(
    ([, path = '']) => [normalize(path), normalize(join(dirname(file), path))],
  );
  return paths.filter((path) => known.has(path) || (isTest(file) && !sourcePattern.test(path)));
}

/**
 * Lists the functions of the contracts that a test or its support imports: `callEndpoint` loads a function by its
 * contract.
 */
function listHandlers(file: string, source: string, known: ReadonlySet<string>): string[] {
  if (!/^test(ing)?\//.test(file)) return [];
  const handlers = [...known].filter((path) => /^functions\/(?!workers\/)/.test(path));
  return [
    ...source.matchAll(/import\s*{([^}]+)}\s*from\s*'([^']*lib\/(?:contracts\/index|[\w-]+\/[\w-]*contract)\.ts)'/g),
  ].flatMap(([, names = '', path = '']) =>
    normalize(join(dirname(file), path)) === contractList
      ? handlers
      : handlers.filter((handler) => names.split(/\W+/).includes(toCamelCase(parse(handler).name))),
  );
}

const toCamelCase = (id: string): string => id.replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());

function invert(references: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, paths] of references)
    for (const path of new Set(paths)) importers.set(path, [...(importers.get(path) ?? []), file]);
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
