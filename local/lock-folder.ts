import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../lib/foundation/is-running.ts';
import { readProcessIdentity } from './process-identity.ts';
import type { Closable } from './shutdown.ts';
import { startupError } from './startup-error.ts';

/**
 * Locks the data folder for this process. Throws a `StartupError` if a running process has the lock, or if the folder
 * cannot be written.
 */
export function lockFolder(folder: string): Closable {
  const file = join(folder, 'pid');
  const owner = findLockOwner(folder);
  if (owner !== undefined) throw startupError(`Process ${owner} uses ${folder}. ${describeCure(owner, file)}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, [process.pid, readProcessIdentity(process.pid) ?? ''].join('\n'));
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw startupError(`${folder} cannot be written (${code}). Start in a folder that you can write.`);
  }
  return { close: async () => rmSync(file, { force: true }) };
}

/** A system that does not report the start of a process cannot recognize a stale lock. */
function describeCure(owner: number, file: string): string {
  const cure = 'Stop it, or start with DATA=memory.';
  return readProcessIdentity(owner) === undefined ? `${cure} If it is not Claimcheck, delete ${file}.` : cure;
}

/**
 * Finds the id of the running process that has locked the folder. A lock is stale if its process has ended, even if
 * another process has got the same id since.
 */
export function findLockOwner(folder: string): number | undefined {
  const { pid, identity } = readLock(join(folder, 'pid'));
  if (pid === undefined || !isRunning(pid)) return undefined;
  const running = readProcessIdentity(pid);
  return running === undefined || running === identity ? pid : undefined;
}

function readLock(file: string): { readonly pid?: number; readonly identity?: string } {
  try {
    const [pid = '', identity = ''] = readFileSync(file, 'utf8').split('\n');
    return Number(pid) > 0 ? { pid: Number(pid), identity } : {};
  } catch {
    return {};
  }
}
