import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
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
  /** Folder of the project that is built. */
  readonly project: string;
  readonly folder: string;
}

/** Folder of the outputs of this project. */
export const buildCacheFolder: string = join(projectFolder, 'node_modules', '.cache', 'claimcheck');

type ProvideBuild = (
  name: string,
  target: string,
  build: (folder: string) => Promise<void>,
  cache?: BuildCache,
) => Promise<void>;

type PlaceFile = (source: string, target: string) => void;

const defaultCache: BuildCache = { project: projectFolder, folder: buildCacheFolder };

/** Builds of older sources are deleted after this time. */
const retentionMs = dayMs;
const lockPollIntervalMs = 100;

/**
 * Writes the output of a build into `target`. Runs the build only if the cache lacks the output for the current content
 * of the sources. `name` identifies the build. Safe to run concurrently, in several processes.
 */
export const copyBuild: ProvideBuild = async (name, target, build, cache) =>
  await provideBuild(copyFileSync, name, target, build, cache);

/** Like `copyBuild`, in a tenth of the time: the files in `target` are the cached ones. No code may write them. */
export const linkBuild: ProvideBuild = async (name, target, build, cache) =>
  await provideBuild(linkFile, name, target, build, cache);

async function provideBuild(
  place: PlaceFile,
  ...[name, target, build, { project, folder } = defaultCache]: Parameters<ProvideBuild>
): Promise<void> {
  const digest = computeBuildDigest(project);
  const cached = join(folder, `${name}-${digest}`);
  mkdirSync(target, { recursive: true });
  if (tryPlace(place, cached, target)) return;
  const lock = await acquireLock(`${cached}.lock`);
  try {
    if (tryPlace(place, cached, target)) return;
    await build(target);
    // A source that changed during the build: the output may belong to neither digest.
    if (computeBuildDigest(project) !== digest) return;
    store(target, cached, folder);
    deleteOutdatedBuilds(folder);
  } finally {
    await lock.close();
  }
}

/** Waits until no process runs the build: the output of a running build is available sooner than a new one. */
async function acquireLock(lock: string): Promise<Closable> {
  while (findLockOwner(lock) !== undefined) await sleep(lockPollIntervalMs);
  const { close } = lockFolder(lock);
  return {
    close: async () => {
      await close();
      rmSync(lock, { recursive: true, force: true });
    },
  };
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

/**
 * Copies or links the cached output. One that fails, for example because another process deletes the output, is built
 * again.
 */
function tryPlace(place: PlaceFile, cached: string, target: string): boolean {
  if (!existsSync(cached)) return false;
  try {
    placeFolder(place, cached, target);
    return true;
  } catch {
    return false;
  }
}

function placeFolder(place: PlaceFile, from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) placeFolder(place, source, target);
    else place(source, target);
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
  placeFolder(copyFileSync, output, draft);
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
