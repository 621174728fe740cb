import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const suffix = process.platform === 'win32' ? '.exe' : '';

/** Name of the file of a program on this system. */
export const toFileName = (program: string): string => `${program}${suffix}`;

/** Finds a program in the folders of the PATH. Returns undefined without one. */
export function findOnPath(program: string, path = process.env.PATH ?? ''): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, toFileName(program))).find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
