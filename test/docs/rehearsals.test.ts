import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../local/start-local.ts';
import { readSnippet } from '../../testing/documents.ts';
import { startLocalService } from '../../testing/local-service.ts';

let folder: string;
let service: LocalService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-rehearsals-'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  service = await startLocalService();
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs commands in place of `npm run -s cli -- --local`, whose files only `npm start` writes. */
const npmFunction = `npm() { shift 5; node --import tsx '${resolve('cli/main.ts')}' "$@"; }`;

/** Runs blocks of a page in one shell, in a folder of their own. Returns the lines that they print. */
async function runBlocks(file: string, ...names: readonly string[]): Promise<string[]> {
  const { baseUrl: API, emulatorUrl: STORES, secretKey: SECRET, environment } = service;
  const commands = [npmFunction, ...names.map((name) => readSnippet(file, name))].join('\n');
  const env = { ...process.env, ...environment, API, STORES, SECRET };
  const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', commands], { cwd: folder, env });
  const [out, error] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  expect(error).not.toMatch(/error/i);
  return out.trim().split('\n');
}

describe('docs/guides/move-from-another-validator.md', () => {
  it('imports purchases of the emulated stores and compares the service with itself', async () => {
    const file = 'docs/guides/move-from-another-validator.md';
    expect(await runBlocks(file, 'rehearse', 'rehearse-commands')).toEqual([
      '2 rows: 2 imported, 0 unchanged, 0 refused.',
      '2 rows: 2 equal, 0 different, 0 not compared.',
      '2 rows: 2 equal, 0 different, 0 not compared.',
    ]);
  });
});

describe('docs/stores/README.md', () => {
  it('connects an app to an emulated store', async () => {
    const lines = await runBlocks('docs/stores/README.md', 'rehearse');
    expect(lines).toContain('Google Play accepted the service account.');
    expect(lines.at(-1)).toContain('Settings saved');
  });
});
