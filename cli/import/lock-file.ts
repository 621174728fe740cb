import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { isRunning } from '../../lib/foundation/is-running.ts';

const getLockPath = (path: string): string => `${path}.lock`;

/**
 * Content of the locks of this process. In a container, an ended process can have had the same id, which is often 1.
 */
const ownContent = `${process.pid} ${randomUUID()}`;

/** Time in which another command that replaces the same stale lock has finished. */
const replacementMs = 200;

/** Errors of `link` on file systems without hard links, such as FAT and some network shares. */
const linkNotSupportedCodes: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Locks a file for the import of this process. Throws `Conflict` if a running process has the lock. Ignores the lock of
 * a process that has ended, for example after a crash.
 */
export async function lockImport(path: string, createLink = link): Promise<{ readonly release: () => Promise<void> }> {
  const lockPath = getLockPath(path);
  if (!(await tryCreate(lockPath, createLink))) await replaceStaleLock(path, createLink);
  return { release: async () => await rm(lockPath, { force: true }) };
}

/** Creates the lock. Returns false if it exists. */
async function tryCreate(lockPath: string, createLink: typeof link): Promise<boolean> {
  try {
    return await createWithContent(lockPath, createLink);
  } catch (cause) {
    if (getErrorCode(cause) === 'EEXIST') return false;
    throw new ServiceError('InvalidPayload', `The file ${lockPath} cannot be written.`, { cause });
  }
}

/** Creates the lock with its content in one step. */
async function createWithContent(lockPath: string, createLink: typeof link): Promise<boolean> {
  const temporaryPath = `${lockPath}.${process.pid}.${randomUUID()}`;
  try {
    await writeFile(temporaryPath, ownContent);
    await createLink(temporaryPath, lockPath);
    return true;
  } catch (error) {
    if (!linkNotSupportedCodes.has(getErrorCode(error))) throw error;
    return await createInPlace(lockPath);
  } finally {
    await rm(temporaryPath, { force: true });
  }
}

/**
 * Creates the lock, then writes its content. Returns false if another command has replaced the lock as stale in
 * between.
 */
async function createInPlace(lockPath: string): Promise<boolean> {
  await writeFile(lockPath, ownContent, { flag: 'wx' });
  await sleep(replacementMs);
  return (await readContent(lockPath)) === ownContent;
}

async function replaceStaleLock(path: string, createLink: typeof link): Promise<void> {
  const lockPath = getLockPath(path);
  const content = await readContent(lockPath);
  const pid = parsePid(content);
  const isLocked = pid === process.pid ? content === ownContent : isRunning(pid);
  if (isLocked) throw lockedError(path, `process ${pid}`);
  await rm(lockPath, { force: true });
  const isCreated = await tryCreate(lockPath, createLink);
  await sleep(replacementMs);
  if (!isCreated || (await readContent(lockPath)) !== ownContent) throw lockedError(path, 'another process');
}

const getErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
const readContent = async (lockPath: string): Promise<string> => await readFile(lockPath, 'utf8').catch(() => '');
const parsePid = (content: string): number => Number(content.split(' ')[0]);

const lockedError = (path: string, owner: string): ServiceError =>
  new ServiceError(
    'Conflict',
    `${path} is being imported by ${owner}. Wait until it has ended. If that process is not an import, delete ${getLockPath(path)}.`,
  );
