import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFunctions } from '../infra/build-functions.ts';
import type { Contract } from '../lib/api/contract.ts';

let folder: string | undefined;

/**
 * Returns a folder with an empty bundle for each function (CDK context `bundles`), for tests that need no code in the
 * stack. `contracts` may lack a function in the project.
 */
export function createEmptyBundles(contracts: readonly Contract[] = []): string {
  folder ??= mkdtempSync(join(tmpdir(), 'claimcheck-bundles-'));
  const names = [...listFunctions(), ...contracts.map(({ area, id }) => `${area}/${id}`)];
  for (const name of names) mkdirSync(join(folder, name), { recursive: true });
  return folder;
}
