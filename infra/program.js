// Finds the bundle of a program, which starts in a tenth of the time that its TypeScript sources take. Node 20 does not
// run TypeScript. The first use after an installation, an update or a change of the sources builds the bundle.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));

/** Digest of the names, sizes and times of the sources: their content takes longer to read than the bundle to start. */
function computeDigest(sources) {
  const hash = createHash('sha256');
  const add = (path) => {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  };
  for (const source of sources) {
    const path = join(project, source);
    if (!statSync(path).isDirectory()) add(path);
    else
      for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }))
        if (entry.isFile()) add(join(entry.parentPath ?? entry.path, entry.name));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Returns the folder of the bundle of the present sources. It can be missing. */
export const findBundle = ({ name, sources }) =>
  join(project, 'dist', name, computeDigest([...sources, 'package.json', 'package-lock.json']));

/** Builds the bundle in a folder of this process and renames it, because programs can start at the same time. */
function build({ title, builder }, bundle) {
  if (process.stderr.isTTY) process.stderr.write(`Building ${title} (first start after a change).\n`);
  const bundles = join(bundle, '..');
  mkdirSync(bundles, { recursive: true });
  const draft = mkdtempSync(join(bundles, 'draft-'));
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', join(project, builder), draft], {
    cwd: project,
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(`The build of ${title} failed.\n${stderr}`);
  }
  for (const name of readdirSync(bundles))
    if (!name.startsWith('draft-') && name !== basename(bundle))
      rmSync(join(bundles, name), { recursive: true, force: true });
  try {
    renameSync(draft, bundle);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(bundle)) throw error;
  }
}

/** Returns the folder of the bundle, or undefined if it is missing and the folder of the project cannot be written. */
function ensureBundle(program) {
  const bundle = findBundle(program);
  try {
    if (!existsSync(bundle)) build(program, bundle);
    return bundle;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return undefined;
    throw error;
  }
}

/** Runs the program in this process: its bundle, or its sources if there can be no bundle. */
export async function runProgram(program) {
  const bundle = ensureBundle(program);
  if (bundle === undefined) {
    const { register } = await import('tsx/esm/api');
    register();
    await import(pathToFileURL(join(project, program.entry)).href);
  } else {
    // Node 22 and later keep the compiled code.
    module.enableCompileCache?.(join(bundle, '..', 'compiled'));
    await import(pathToFileURL(join(bundle, `${basename(program.entry, '.ts')}.mjs`)).href);
  }
}

/** The programs of `npm start`: the service, and the build of its functions and stack. */
export const servicePrograms = {
  name: 'service',
  title: 'the service',
  sources: ['emulator', 'functions', 'infra', 'lib', 'local'],
  entry: 'local/run-service.ts',
  builder: 'local/build-programs.ts',
};
