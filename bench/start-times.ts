import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { buildFunctions, bundleEntryPoints } from '../infra/build-functions.ts';
import type { BenchResult } from './bench-result.ts';
import { median } from './median.ts';

const run = promisify(execFile);
const rounds = 21;

interface Bundle {
  readonly name: string;
  readonly file: string;
  /** Size of the entry point and its static imports. */
  readonly bytes: number;
  /** Names of the SDKs of payment processors in the bundle, or `none`. */
  readonly processorPackages: string;
}

/**
 * Measures the size and import time of each function in a new process, relative to a bare document client with the same
 * build settings. The time is the median of 21 rounds, each of which starts every bundle once.
 */
export async function benchStartTimes(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-bench-'));
  try {
    const base = { folder: 'bench', entryPoints: ['bare-document-client.ts'], outdir: join(folder, 'base') };
    const bundles = [
      ...listBundles(await bundleEntryPoints(base), base.outdir),
      ...listBundles(await buildFunctions(join(folder, 'functions')), join(folder, 'functions')),
    ];
    return { title: 'Start of a function: loaded size and median import time', rows: await measureRows(bundles) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureRows(bundles: readonly Bundle[]): Promise<BenchResult['rows']> {
  const times = bundles.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { file }] of bundles.entries()) times[index]?.push(await measureStartMs(file));
  }
  const baseMs = median(times[0] ?? []);
  return bundles.map(({ name, bytes, processorPackages }, index) => {
    const ms = median(times[index] ?? []);
    return {
      bundle: name,
      kB: Math.round(bytes / 1000),
      'processor packages': processorPackages,
      ms: roundTo(ms, 1),
      'times the bare client': roundTo(ms / baseMs, 2),
    };
  });
}

function listBundles({ outputs }: Metafile, outdir: string): Bundle[] {
  return Object.entries(outputs)
    .filter(([, { entryPoint }]) => entryPoint !== undefined && /^(functions|bench)\//.test(entryPoint))
    .map(([output]) => {
      const file = resolve(output);
      return { name: relative(outdir, file).replace(/\.mjs$/, ''), file, ...listStaticImports(outputs, output) };
    });
}

/** Excludes dynamic imports, because they are not loaded at the start. */
function listStaticImports(outputs: Metafile['outputs'], entry: string): Pick<Bundle, 'bytes' | 'processorPackages'> {
  const loaded = new Set([entry]);
  for (const output of loaded) {
    const statements = outputs[output]?.imports.filter(
      ({ kind, external }) => kind === 'import-statement' && !external,
    );
    for (const { path } of statements ?? []) loaded.add(path);
  }
  const chunks = [...loaded].flatMap((output) => outputs[output] ?? []);
  const sources = chunks.flatMap(({ inputs }) => Object.keys(inputs));
  const processorPackages = ['stripe', 'braintree'].filter((name) =>
    sources.some((file) => file.includes(`node_modules/${name}/`)),
  );
  return {
    bytes: chunks.reduce((sum, { bytes }) => sum + bytes, 0),
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
