import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';

const folder = process.env.VECTORS_DIR;

/** A sample from the stores or their libraries, by its path in the folder that `VECTORS_DIR` names. */
export const readVector = (...path: string[]): Buffer => readFileSync(join(folder ?? '', ...path));

/** A group of tests on samples; without the folder they are skipped, and the title says why. */
export function describeWithVectors(title: string, tests: () => void): void {
  if (folder) describe(title, tests);
  // Not even collected, as they read samples for that.
  else describe.skip(title, () => it('need the samples: VECTORS_DIR does not name their folder', () => {}));
}
