import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type BundleFile, bundleFile } from '../infra/build-functions.ts';
import type { BenchResult } from './bench-result.ts';
import { buildBundles } from './build-bundles.ts';
import { computeMedianInterval, type MedianInterval, median } from './median.ts';

const run = promisify(execFile);
const rounds = 21;

export interface Bundle {
  /** `<area>/<file>`. */
  readonly name: string;
  /** Path of the file that exports the handler. */
  readonly file: string;
  /** Size of the files that the start loads. */
  readonly bytes: number;
  /** Number of these files. */
  readonly files: number;
  /** Names of the SDKs of payment processors in the bundle, or `none`. */
  readonly processorPackages: string;
}

interface StartTime {
  readonly ms: number;
  /** Median of the ratio to the bare client of the same round. */
  readonly ratio: number;
  /** Contains the median ratio with 90 % confidence. */
  readonly interval: MedianInterval;
}

/** The bundle of the bare document client, and the bundles of all functions. */
export interface Bundles {
  readonly base: Bundle;
  /** The bare client with all code of its packages, as bundlers build it without settings. */
  readonly completeBase: Bundle;
  readonly functions: readonly Bundle[];
}

/**
 * Measures the size and import time of each function in a new process, relative to a bare document client with the same
 * build settings. The ratio is the median of 21 rounds, each of which starts every bundle once.
 */
export const benchStartTimes = async (): Promise<BenchResult> =>
  await withBundles(async (bundles) => {
    const times = await measureStartTimes(bundles);
    return {
      id: 'functions',
      title: 'Start of a function: loaded size, median import time, and 90 % interval of its ratio to a bare client',
      rows: [bundles.base, bundles.completeBase, ...bundles.functions].map(
        ({ name, bytes, files, processorPackages }) => {
          const { ms, ratio, interval } = times.get(name) ?? missingTimeError(name);
          return {
            bundle: name,
            kB: Math.round(bytes / 1000),
            files,
            'processor packages': processorPackages,
            ms: roundTo(ms, 1),
            'times the bare client': roundTo(ratio, 2),
            from: roundTo(interval.low, 2),
            to: roundTo(interval.high, 2),
          };
        },
      ),
    };
  });

/** Builds all functions and the bare client, runs `use` and deletes the bundles. */
export async function withBundles<T>(use: (bundles: Bundles) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-bench-'));
  try {
    const outdirs = {
      base: join(folder, 'base'),
      completeBase: join(folder, 'complete-base'),
      functions: join(folder, 'functions'),
    };
    const base = toBundle(
      'bare-document-client',
      join(outdirs.base, 'bare-document-client.mjs'),
      await bundleFile('bench/bare-document-client.ts', outdirs.base),
    );
    const completeBase = toBundle(
      'bare-document-client, complete',
      join(outdirs.completeBase, 'bare-document-client.mjs'),
      await bundleFile('bench/bare-document-client.ts', outdirs.completeBase, { omitsUnused: false }),
    );
    const functions = (await buildBundles(outdirs.functions)).map(({ name, files }) =>
      toBundle(name, join(outdirs.functions, name, `${basename(name)}.mjs`), files),
    );
    return await use({ base, completeBase, functions });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Measures the import times of all bundles, or of the functions that `isMeasured` selects, by name. */
export async function measureStartTimes(
  { base, completeBase, functions }: Bundles,
  isMeasured: (bundle: Bundle) => boolean = () => true,
): Promise<ReadonlyMap<string, StartTime>> {
  const bundles = [base, completeBase, ...functions.filter(isMeasured)];
  const times = bundles.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { file }] of bundles.entries()) times[index]?.push(await measureStartMs(file));
  }
  const [baseTimes = []] = times;
  return new Map(
    bundles.map(({ name }, index) => {
      const ratios = (times[index] ?? []).map((ms, round) => ms / (baseTimes[round] ?? Number.NaN));
      const ratio = median(ratios);
      return [name, { ms: median(times[index] ?? []), ratio, interval: computeMedianInterval(ratios) }] as const;
    }),
  );
}

function missingTimeError(name: string): never {
  throw new Error(`The start of ${name} is not measured.`);
}

/** Counts the files that the start loads, without the files of dynamic imports. */
function toBundle(name: string, file: string, files: readonly BundleFile[]): Bundle {
  const loaded = files.filter(({ isLoadedAtStart }) => isLoadedAtStart);
  const sources = loaded.flatMap((part) => part.sources);
  const processorPackages = ['stripe', 'braintree'].filter((processor) =>
    sources.some((source) => source.startsWith(`node_modules/${processor}/`)),
  );
  return {
    name,
    file,
    bytes: loaded.reduce((sum, { bytes }) => sum + bytes, 0),
    files: loaded.length,
    processorPackages: processorPackages.join() || 'none',
  };
}

async function measureStartMs(file: string): Promise<number> {
  const url = pathToFileURL(file).href;
  const script = `const from = performance.now(); await import('${url}'); console.log(performance.now() - from);`;
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', script]);
  return Number(stdout);
}

const roundTo = (value: number, digits: number): number => Number(value.toFixed(digits));
