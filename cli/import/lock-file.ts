import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../lib/shared/errors.ts';

const getLockPath = (path: string): string => `${path}.lock`;

/** Time in which another command that replaces the same stale lock has finished. */
const replacementMs = 200;

/**
 * Locks a file for the import of this process. Throws `Conflict` if a running process has the lock. Ignores the lock of a process
 * that has ended, for example after a crash.
 */
export async function lockImport(path: string): Promise<{ readonly release: () => Promise<void> }> {
  const lockPath = getLockPath(path);
  if (!(await tryCreate(lockPath))) await replaceStaleLock(path, lockPath);
  return { release: async () => await rm(lockPath, { force: true }) };
}

/** Creates the lock with its content in one step. Returns false if it exists. */
async function tryCreate(lockPath: string): Promise<boolean> {
  const temporaryPath = `${lockPath}.${process.pid}.${randomUUID()}`;
  try {
    await writeFile(temporaryPath, String(process.pid));
    await link(temporaryPath, lockPath);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new ServiceError('InvalidPayload', `The file ${lockPath} cannot be written.`, { cause });
  } finally {
    await rm(temporaryPath, { force: true });
  }
}

async function replaceStaleLock(path: string, lockPath: string): Promise<void> {
  const pid = await readPid(lockPath);
  if (isRunning(pid)) throw lockedError(path, `process ${pid}`);
  await rm(lockPath, { force: true });
  const isCreated = await tryCreate(lockPath);
  await sleep(replacementMs);
  if (!isCreated || (await readPid(lockPath)) !== process.pid) throw lockedError(path, 'another process');
}

const readPid = async (lockPath: string): Promise<number> => Number(await readFile(lockPath, 'utf8').catch(() => ''));

const lockedError = (path: string, owner: string): ServiceError =>
  new ServiceError(
    'Conflict',
    `${path} is being imported by ${owner}. Wait until it has ended. If it is no import, delete ${getLockPath(path)}.`,
  );

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user exists, but does not accept the signal.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
