import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { omitStreamingPlugin } from './omit-streaming-plugin.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Where the bundles are, unless the context `bundles` of the CDK app says otherwise; all functions share this one asset, and each loads only its own entry and chunks. */
export const bundlesFolder = join(root, 'dist', 'functions');

/** Code of packages that were written for `require` needs one in an ES module. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Bundles every file of functions/ in one go, without what an earlier build left. */
export async function buildFunctions(outdir = bundlesFolder): Promise<Metafile> {
  const files = readdirSync(join(root, 'functions'), { recursive: true, encoding: 'utf8' });
  const entryPoints = files.filter((file) => file.endsWith('.ts')).sort();
  rmSync(outdir, { recursive: true, force: true });
  return await bundleEntryPoints({ folder: 'functions', entryPoints, outdir });
}

interface BundleOptions {
  /** The folder of the project that the entry points are in. */
  readonly folder: string;
  readonly entryPoints: readonly string[];
  readonly outdir: string;
}

/**
 * Bundles entry points as they are deployed. Splitting keeps what is imported lazily (store adapters, the secrets client,
 * the SDK's credential providers) out of a function's start.
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
