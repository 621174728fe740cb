import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectFolder } from '../infra/project-folder.ts';
import { computeDigest } from '../infra/source-digest.ts';
import { dayMs } from '../lib/foundation/time.ts';
import { findLockOwner, lockFolder } from './lock-folder.ts';
import type { Closable } from './shutdown.ts';

/** Files and folders that determine the output of any build: the sources, the installed packages and their settings. */
export const buildSources = [
  'cdk.json',
  'cli',
  'console',
  'emulator',
  'functions',
  'infra',
  'lib',
  'local',
  'node_modules/.package-lock.json',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];

interface BuildCache {
  readonly project: string;
  readonly folder: string;
}

/** Folder of the outputs of this project. */
export const buildCacheFolder: string = join(projectFolder, 'node_modules', '.cache', 'claimcheck');

const defaultCache: BuildCache = { project: projectFolder, folder: buildCacheFolder };

const retentionMs = dayMs;
const lockPollIntervalMs = 100;

/**
 * Links the output of a build into `target`. Runs the build only if the cache lacks the output for the current content
 * of the sources. `name` identifies the build. The files are the cached ones: no code may write them. Safe to run
 * concurrently, in several processes.
 */
export async function linkBuild(
  name: string,
  target: string,
  build: (folder: string) => Promise<void>,
  { project, folder } = defaultCache,
): Promise<void> {
  const digest = computeBuildDigest(project);
  const cached = join(folder, `${name}-${digest}`);
  mkdirSync(target, { recursive: true });
  if (tryLink(cached, target)) return;
  const lock = await acquireLock(`${cached}.lock`);
  try {
    if (tryLink(cached, target)) return;
    await build(target);
    // A source that changed during the build: the output may belong to neither digest.
    if (computeBuildDigest(project) !== digest) return;
    store(target, cached, folder);
    deleteOutdatedBuilds(folder);
  } finally {
    await lock.close();
  }
}

/**
 * Waits until no process runs the build: the output of a running build is available sooner than a new one. The folder
 * of the lock stays, because another process may be locking it when it is released.
 */
async function acquireLock(lock: string): Promise<Closable> {
  while (findLockOwner(lock) !== undefined) await sleep(lockPollIntervalMs);
  return lockFolder(lock);
}

/**
 * Computes the digest of the sources. npm writes the list of installed packages, which other package managers do not
 * have.
 */
const computeBuildDigest = (project: string): string =>
  computeDigest(
    project,
    buildSources.filter((source) => existsSync(join(project, source))),
  );

/** Links the cached output. One that fails, for example because another process deletes the output, is built again. */
function tryLink(cached: string, target: string): boolean {
  if (!existsSync(cached)) return false;
  try {
    for (const entry of readdirSync(cached, { withFileTypes: true, recursive: true })) {
      const source = join(entry.parentPath, entry.name);
      const place = join(target, relative(cached, source));
      if (entry.isDirectory()) mkdirSync(place, { recursive: true });
      else linkFile(source, place);
    }
    return true;
  } catch {
    return false;
  }
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // In another file system, for example.
    copyFileSync(source, target);
  }
}

/** Stores the output under its name in one step, so that no other process copies a part of it. */
function store(output: string, cached: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(join(folder, 'draft-'));
  cpSync(output, draft, { recursive: true });
  try {
    renameSync(draft, cached);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process stored the same output.
    if (!existsSync(cached)) throw error;
  }
}

function deleteOutdatedBuilds(folder: string): void {
  for (const name of readdirSync(folder)) {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > retentionMs) rmSync(join(folder, name), { recursive: true, force: true });
  }
}
