import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { omitStreamingPlugin } from './omit-streaming-plugin.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Default folder of the bundles (CDK context `bundles`). All functions share this asset; each loads its own entry and chunks. */
export const bundlesFolder = join(root, 'dist', 'functions');

/** Defines `require`, which bundled CommonJS packages need in an ES module. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Bundles all files of functions/. Deletes the files of an earlier build. */
export async function buildFunctions(outdir = bundlesFolder): Promise<Metafile> {
  const files = readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' });
  const entryPoints = files.filter((file) => file.endsWith('.ts')).sort();
  rmSync(outdir, { recursive: true, force: true });
  return await bundleEntryPoints({ folder: 'functions', entryPoints, outdir });
}

interface BundleOptions {
  /** Folder of the entry points, relative to the project. */
  readonly folder: string;
  readonly entryPoints: readonly string[];
  readonly outdir: string;
}

/**
 * Bundles entry points for deployment. Splitting keeps dynamic imports (store adapters, the Secrets Manager client, the
 * credential providers of the SDK) out of the cold start.
 */
export async function bundleEntryPoints({ folder, entryPoints, outdir }: BundleOptions): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
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
    logLevel: 'warning',
  });
  return metafile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildFunctions();
