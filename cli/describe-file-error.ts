const problems: Readonly<Record<string, string>> = {
  ENOENT: 'is not found',
  EISDIR: 'is a folder',
  EEXIST: 'is a file and not a folder',
  ENOTDIR: 'is not found: a part of its path is a file',
  EACCES: 'cannot be opened: the permission is missing',
  EPERM: 'cannot be opened: the permission is missing',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
};

/** Describes why a file cannot be read or written, for the part of a sentence after its name. */
export function describeFileError(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return problems[code] ?? `cannot be opened (${code})`;
}
