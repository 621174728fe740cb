import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Closable } from './shutdown.ts';
import { startupError } from './startup-error.ts';

/** Locks the data folder for this process. Throws a `StartupError` if a running process has the lock. */
export function lockFolder(folder: string): Closable {
  const file = join(folder, 'pid');
  const owner = findLockOwner(folder);
  if (owner !== undefined) throw startupError(`Process ${owner} uses ${folder}. Stop it, or start with DATA=memory.`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, String(process.pid));
  return { close: async () => rmSync(file, { force: true }) };
}

/** Finds the id of the running process that has locked the folder. */
export function findLockOwner(folder: string): number | undefined {
  const pid = readPid(join(folder, 'pid'));
  return pid !== undefined && isRunning(pid) ? pid : undefined;
}

function readPid(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
