import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../lib/shared/errors.ts';

const getLockPath = (path: string): string => `${path}.lock`;

/** Content of the locks of this process. In a container, an ended process can have had the same id, which is often 1. */
const ownContent = `${process.pid} ${randomUUID()}`;

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
    await writeFile(temporaryPath, ownContent);
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
  const content = await readContent(lockPath);
  const pid = parsePid(content);
  const isLocked = pid === process.pid ? content === ownContent : isRunning(pid);
  if (isLocked) throw lockedError(path, `process ${pid}`);
  await rm(lockPath, { force: true });
  const isCreated = await tryCreate(lockPath);
  await sleep(replacementMs);
  if (!isCreated || (await readContent(lockPath)) !== ownContent) throw lockedError(path, 'another process');
}

const readContent = async (lockPath: string): Promise<string> => await readFile(lockPath, 'utf8').catch(() => '');
const parsePid = (content: string): number => Number(content.split(' ')[0]);

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
