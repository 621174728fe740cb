import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFunctions } from '../infra/build-functions.ts';

let folder: string | undefined;

/**
 * Returns a folder with an empty bundle for each function (CDK context `bundles`), for tests that need no code in the
 * stack.
 */
export function createEmptyBundles(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'claimcheck-bundles-'));
  for (const name of listFunctions()) mkdirSync(join(folder, name), { recursive: true });
  return folder;
}
