import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { omitStreamingPlugin } from './omit-streaming-plugin.ts';

export const projectFolder = fileURLToPath(new URL('..', import.meta.url));

/** Default folder of the bundles (CDK context `bundles`). All functions share this asset; each loads its own entry and chunks. */
export const bundlesFolder = join(projectFolder, 'dist', 'functions');

/** Source maps of the bundles, `<bundle>.map`. They are not deployed: Lambda would load them with each function. */
export const sourceMapsFolder = join(projectFolder, 'dist', 'source-maps');

/** Defines `require`, which bundled CommonJS packages need in an ES module. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Bundles all files of functions/. Deletes the files of an earlier build. Without `mapsFolder`, it writes no source maps. */
export async function buildFunctions(outdir: string, mapsFolder?: string): Promise<Metafile> {
  const files = readdirSync(join(projectFolder, 'functions'), { recursive: true, encoding: 'utf8' });
  const entryPoints = files.filter((file) => file.endsWith('.ts')).sort();
  for (const folder of [outdir, mapsFolder]) if (folder) rmSync(folder, { recursive: true, force: true });
  const metafile = await bundleEntryPoints({
    folder: 'functions',
    entryPoints,
    outdir,
    hasSourceMaps: mapsFolder !== undefined,
  });
  if (mapsFolder !== undefined) moveSourceMaps(outdir, mapsFolder);
  return metafile;
}

/** Moves the maps next to the bundles. The sources in a map are relative to it, so both folders have the same depth. */
function moveSourceMaps(outdir: string, mapsFolder: string): void {
  const files = readdirSync(outdir, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.map'))) {
    mkdirSync(dirname(join(mapsFolder, file)), { recursive: true });
    renameSync(join(outdir, file), join(mapsFolder, file));
  }
}

/** Builds what is deployed, with the source maps of this version. */
export const buildRelease = async (): Promise<Metafile> => await buildFunctions(bundlesFolder, sourceMapsFolder);

interface BundleOptions {
  /** Folder of the entry points, relative to the project. */
  readonly folder: string;
  readonly entryPoints: readonly string[];
  readonly outdir: string;
  /** Whether to write a source map for each bundle, which the bundle does not name. */
  readonly hasSourceMaps?: boolean;
}

/**
 * Bundles entry points for deployment. Splitting keeps dynamic imports (store adapters, the Secrets Manager client, the
 * credential providers of the SDK) out of the cold start.
 */
export async function bundleEntryPoints({
  folder,
  entryPoints,
  outdir,
  hasSourceMaps = false,
}: BundleOptions): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: projectFolder,
    entryPoints: entryPoints.map((file) => join(folder, file)),
    outdir,
    outbase: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    banner: { js: banner },
    plugins: [omitStreamingPlugin],
    metafile: true,
    ...(hasSourceMaps && { sourcemap: 'external', sourcesContent: false }),
    logLevel: 'warning',
  });
  return metafile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildRelease();
