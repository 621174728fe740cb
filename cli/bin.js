#!/usr/bin/env node
// Starts the command line from a bundle, which takes a tenth of the time that its TypeScript sources take. Node 20 does
// not run TypeScript. The first command after an installation, an update or a change of the sources builds the bundle.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const bundles = join(project, 'dist', 'command-line');
const sources = ['cli', 'infra', 'lib', 'package.json', 'package-lock.json'];

/** Digest of the names, sizes and times of the sources: their content takes longer to read than the bundle to start. */
function computeDigest() {
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

/** Builds the bundle in a folder of this process and renames it, because commands can run concurrently. */
function build(bundle) {
  if (process.stderr.isTTY) process.stderr.write('Building the command line (first command after a change).\n');
  mkdirSync(bundles, { recursive: true });
  const draft = mkdtempSync(join(bundles, 'draft-'));
  const program = join(project, 'infra', 'build-command-line.ts');
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', program, draft], {
    cwd: project,
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(`The command line could not be built.\n${stderr}`);
  }
  for (const name of readdirSync(bundles))
    if (!name.startsWith('draft-')) rmSync(join(bundles, name), { recursive: true, force: true });
  try {
    renameSync(draft, bundle);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(bundle)) throw error;
  }
}

/** Returns the program, or undefined if the folder of the project cannot be written. */
function findProgram() {
  const bundle = join(bundles, computeDigest());
  const program = join(bundle, 'main.mjs');
  try {
    if (!existsSync(program)) build(bundle);
    return program;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return undefined;
    throw error;
  }
}

const program = findProgram();
if (program === undefined) {
  const { register } = await import('tsx/esm/api');
  register();
  await import('./main.ts');
} else {
  // Node 22 and later keep the compiled code.
  module.enableCompileCache?.(join(bundles, 'compiled'));
  await import(pathToFileURL(program).href);
}
