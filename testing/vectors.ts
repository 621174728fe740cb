import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';

const folder = process.env.VECTORS_DIR;

/** Reads a sample of a store or of its library, by its path in the folder of `VECTORS_DIR`. */
export const readVector = (...path: string[]): Buffer => readFileSync(join(folder ?? '', ...path));

/** Declares a group of tests that read samples. Skips it if `VECTORS_DIR` is not set. */
export function describeWithVectors(title: string, tests: () => void): void {
  if (folder) describe(title, tests);
  // `tests` is not called, because it reads samples while it declares tests.
  else describe.skip(title, () => it('reads samples from the folder of VECTORS_DIR', () => {}));
}
