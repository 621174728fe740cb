import { renameSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file as a whole: a program that waits for it never reads a part of it. It is readable by its owner only,
 * because the files of the service contain keys.
 */
export function writeJsonFile(file: string, content: object): void {
  const draft = `${file}.draft`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
