import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import * as v from 'valibot';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { describeFileError } from '../describe-file-error.ts';
import { parseFileText } from '../read-json-file.ts';

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/**
 * The state of an unfinished import. The first `rows` rows of the file are done; later ones can be imported too.
 */
const Progress = v.object({
  version: v.literal(1),
  app: v.string(),
  isUnannounced: v.boolean(),
  givesCredits: v.optional(v.boolean(), false),
  /** SHA-256 of the imported file, in hexadecimal. */
  digest: v.string(),
  rows: Count,
  imported: Count,
  unchanged: Count,
  refused: Count,
  /** Length of the report of refused rows. A crash can leave a longer one. */
  refusedBytes: Count,
});
export type Progress = Readonly<v.InferOutput<typeof Progress>>;

const getProgressPath = (path: string): string => `${path}.progress`;

/** Describes how an import starts again, for the end of a sentence. */
export const describeRestart = (path: string): string =>
  `delete ${getProgressPath(path)} to start again, which imports nothing twice`;

interface ImportIdentity {
  readonly path: string;
  readonly app: string;
  readonly isUnannounced: boolean;
  readonly givesCredits: boolean;
  readonly isResumed: boolean;
}

/**
 * Returns the progress from which an import starts. Throws `Conflict` if an unfinished import of the file exists and is
 * not resumed, and if it was started with another file or other options.
 */
export async function loadProgress({ path, isResumed, ...identity }: ImportIdentity): Promise<Progress> {
  const { app, isUnannounced, givesCredits } = identity;
  const progressPath = getProgressPath(path);
  const [stored, digest] = await Promise.all([readProgress(progressPath), hashFile(path)]);
  if (!stored)
    return { version: 1, ...identity, digest, rows: 0, imported: 0, unchanged: 0, refused: 0, refusedBytes: 0 };
  const restart = describeRestart(path);
  if (!isResumed)
    throw new ServiceError(
      'Conflict',
      `An import of ${path} is unfinished: ${stored.rows} rows are done. Pass --resume to continue it, or ${restart}.`,
    );
  if (stored.digest !== digest)
    throw new ServiceError('Conflict', `${path} has changed since its import began. Restore it, or ${restart}.`);
  if (stored.app !== app)
    throw new ServiceError('Conflict', `The unfinished import is for the app ${stored.app}. Pass it, or ${restart}.`);
  if (stored.isUnannounced !== isUnannounced)
    throw new ServiceError(
      'Conflict',
      `The unfinished import was started with --${stored.isUnannounced ? '' : 'no-'}mute. Pass the same option, or ${restart}.`,
    );
  if (stored.givesCredits !== givesCredits)
    throw new ServiceError(
      'Conflict',
      `The unfinished import was started with${stored.givesCredits ? '' : 'out'} --give-credits. Pass the same options, or ${restart}.`,
    );
  return stored;
}

async function readProgress(progressPath: string): Promise<Progress | undefined> {
  const text = await readFile(progressPath, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ServiceError('InvalidPayload', `${progressPath} ${describeFileError(error)}.`, { cause: error });
  });
  return text === undefined ? undefined : parseFileText(Progress, text, progressPath);
}

/** Writes the progress atomically: after a crash, the file has the earlier or the later content. */
export async function saveProgress(path: string, progress: Progress): Promise<void> {
  const temporaryPath = `${getProgressPath(path)}.${process.pid}.tmp`;
  const file = await open(temporaryPath, 'w');
  try {
    await file.writeFile(JSON.stringify(progress));
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporaryPath, getProgressPath(path));
}

export const deleteProgress = async (path: string): Promise<void> => await rm(getProgressPath(path), { force: true });

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch (cause) {
    throw new ServiceError('InvalidPayload', `${path} ${describeFileError(cause)}.`);
  }
  return hash.digest('hex');
}
