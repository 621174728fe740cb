import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Closable } from './shutdown.ts';
import { startupError } from './startup-error.ts';

/** Keeps a second service from using the same folder. Throws a `CannotStart` when one that runs does. */
export function lockFolder(folder: string): Closable {
  const file = join(folder, 'pid');
  const other = findLockOwner(folder);
  if (other !== undefined) throw startupError(`Process ${other} uses ${folder}: stop it, or start with DATA=memory.`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, String(process.pid));
  return { close: async () => rmSync(file, { force: true }) };
}

/** The process that uses the folder, if one that runs does. */
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
