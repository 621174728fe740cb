import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import { type InputOptions, type Plugin, rolldown } from 'rolldown';
import { buildConsole } from './build-console.ts';
import { omitResponseSchemas } from './omit-response-schemas.ts';
import { omitUnusedModules } from './omit-unused-modules.ts';
import { projectFolder } from './project-folder.ts';
import { buildSite } from './site/build-site.ts';
import { computeSourceDigest } from './source-digest.ts';

/** Default folder of the bundles (CDK context `bundles`). */
export const bundlesFolder = join(projectFolder, 'dist', 'functions');

/** Source maps of the bundles, `<file>.map`. They are not deployed: Lambda would load them with each function. */
export const sourceMapsFolder = join(projectFolder, 'dist', 'source-maps');

/** Two builds use the processors of a small machine. */
const buildConcurrency = 2;

/** A file of a bundle. */
export interface BundleFile {
  readonly name: string;
  readonly bytes: number;
  /** Other files are loaded when they are needed, such as an adapter. */
  readonly isLoadedAtStart: boolean;
  /** Paths of the sources, relative to the project. */
  readonly sources: readonly string[];
}

/** The code of one function, in its own folder. The file `<function>.mjs` exports `handler`. */
export interface Bundle {
  /** `<area>/<function>`, also the path of its folder. */
  readonly name: string;
  readonly files: readonly BundleFile[];
}

/** Lists the functions: the files of functions/ without `.ts`. */
export const listFunctions = (): string[] =>
  readdirSync(join(projectFolder, 'functions'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.replace(/\.ts$/, '').replaceAll('\\', '/'))
    .sort();

/** Bundles functions. Deletes the files of an earlier build. Without `mapsFolder`, it writes no source maps. */
export async function buildFunctions(
  outdir: string,
  mapsFolder?: string,
  names: readonly string[] = listFunctions(),
): Promise<Bundle[]> {
  for (const folder of [outdir, mapsFolder]) if (folder) rmSync(folder, { recursive: true, force: true });
  return await pMap(
    names,
    async (name) => {
      const files = await bundleFile(join('functions', `${name}.ts`), join(outdir, name), {
        ...(mapsFolder && { mapsFolder }),
        runsWarmUp: true,
      });
      return { name, files };
    },
    { concurrency: buildConcurrency },
  );
}

/** Builds the functions, and the files that the function of the console serves. */
export async function buildService(outdir: string, mapsFolder?: string): Promise<Bundle[]> {
  const bundles = await buildFunctions(outdir, mapsFolder);
  const folder = join(outdir, 'console', 'get-console');
  await buildConsole(join(folder, 'assets'));
  await buildSite(join(folder, 'docs'));
  return bundles;
}

interface Release {
  readonly sourceDigest: string;
  readonly bundles: readonly Bundle[];
}

/** The last release that was built completely. */
const releaseFile = join(projectFolder, 'dist', 'release.json');

/** Builds what is deployed, with the source maps of this version. */
export async function buildRelease(): Promise<void> {
  rmSync(releaseFile, { force: true });
  const sourceDigest = computeSourceDigest(projectFolder);
  const bundles = await buildService(bundlesFolder, sourceMapsFolder);
  writeFileSync(releaseFile, JSON.stringify({ sourceDigest, bundles } satisfies Release));
}

/** Returns the bundles in `bundlesFolder` if they were built from the current sources. */
export function findReleaseBundles(): readonly Bundle[] | undefined {
  if (!existsSync(releaseFile)) return undefined;
  const release = JSON.parse(readFileSync(releaseFile, 'utf8')) as Release;
  return release.sourceDigest === computeSourceDigest(projectFolder) ? release.bundles : undefined;
}

/** Settings of the bundler for code of Lambda functions. */
export const functionInput = {
  cwd: projectFolder,
  platform: 'node',
  plugins: [omitUnusedModules, omitResponseSchemas],
  resolve: { mainFields: ['module', 'main'] },
  // Descriptions of the API read properties of schemas, without side effects: no function needs them.
  treeshake: { propertyReadSideEffects: false },
  transform: { target: 'node20' },
  // One function needs at its start what others load later.
  checks: { ineffectiveDynamicImport: false, bundlerTimings: false, pluginTimings: false },
} satisfies InputOptions;

interface BundleOptions {
  /** Folder for the source maps. None are written by default. */
  readonly mapsFolder?: string;
  /** Leaves out code of packages that the functions never use; true by default. */
  readonly omitsUnused?: boolean;
  readonly runsWarmUp?: boolean;
}

const warmUpEntry = '\0warm-up';

/**
 * Creates an entry that exports the function and runs its warm-up. It is not in the chunk of the function: a chunk that
 * the warm-up imports waits for that chunk.
 */
const createWarmUpEntry = (entry: string): Plugin => ({
  name: 'warm-up-entry',
  resolveId: (id) => (id === warmUpEntry ? id : undefined),
  load: (id) =>
    id === warmUpEntry
      ? [
          `export * from ${JSON.stringify(entry)};`,
          `import { runWarmUp } from ${JSON.stringify(join(projectFolder, 'lib', 'foundation', 'warm-up.ts'))};`,
          'await runWarmUp();',
        ].join('\n')
      : undefined,
});

/**
 * Bundles a file of the project for Lambda, as `<file>.mjs` in its own folder: what the start needs is one chunk,
 * because each file that Lambda loads takes time. Dynamic imports (store adapters, the Secrets Manager client) are
 * separate chunks. Names of functions are shortened, which makes the code a tenth smaller. The content determines
 * the name of each chunk.
 */
export async function bundleFile(
  file: string,
  outdir: string,
  { mapsFolder, omitsUnused = true, runsWarmUp = false }: BundleOptions = {},
): Promise<BundleFile[]> {
  const entry = join(projectFolder, file);
  const name = basename(file, '.ts');
  const build = await rolldown({
    ...functionInput,
    input: { [name]: runsWarmUp ? warmUpEntry : entry },
    plugins: [...(omitsUnused ? functionInput.plugins : []), ...(runsWarmUp ? [createWarmUpEntry(entry)] : [])],
  });
  let staticModules: ReadonlySet<string> | undefined;
  const { output } = await build.write({
    dir: outdir,
    format: 'esm',
    minify: true,
    comments: { annotation: false },
    // Other characters double the size of the source in memory, and the start takes longer.
    charset: 'ascii',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    // rolldown does not accept its default, a RegExp, from the context of jest.
    sourcemapIgnoreList: false,
    codeSplitting: {
      groups: [
        {
          debugName: 'main',
          name: (id, context) => {
            staticModules ??= listStaticModules(entry, (module) => context.getModuleInfo(module));
            return staticModules.has(id) ? 'main' : null;
          },
        },
      ],
    },
    ...(mapsFolder && {
      sourcemap: 'hidden',
      sourcemapExcludeSources: true,
      sourcemapPathTransform: (source, mapFile) => relative(projectFolder, resolve(dirname(mapFile), source)),
    }),
  });
  await build.close();
  const chunks = output.filter((part) => part.type === 'chunk');
  if (mapsFolder) moveSourceMaps(outdir, mapsFolder);
  const loaded = new Set([`${name}.mjs`]);
  for (const loadedFile of loaded)
    for (const imported of chunks.find(({ fileName }) => fileName === loadedFile)?.imports ?? [])
      if (chunks.some(({ fileName }) => fileName === imported)) loaded.add(imported);
  return chunks.map(({ fileName, code, modules }) => ({
    name: fileName,
    bytes: Buffer.byteLength(code),
    isLoadedAtStart: loaded.has(fileName),
    sources: Object.entries(modules)
      // Ids of modules that the bundler creates start with a null character.
      .filter(([id, { renderedLength }]) => renderedLength > 0 && !id.startsWith('\0'))
      .map(([id]) => relative(projectFolder, id)),
  }));
}

interface ImportedModules {
  readonly importedIds: readonly string[];
  readonly dynamicImporters: readonly string[];
}

/** Lists the modules that the entry imports, directly or not. A module that is also imported dynamically is omitted. */
function listStaticModules(entry: string, getModuleInfo: (id: string) => ImportedModules | null): Set<string> {
  const modules = new Set([entry]);
  for (const module of modules)
    for (const id of getModuleInfo(module)?.importedIds ?? [])
      if (getModuleInfo(id)?.dynamicImporters.length === 0) modules.add(id);
  return modules;
}

/**
 * Moves the maps of a bundle to the maps of all bundles. Chunks of two bundles have one name only if they are equal.
 */
function moveSourceMaps(bundle: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(bundle).filter((name) => name.endsWith('.map')))
    renameSync(join(bundle, file), join(folder, file));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildRelease();
