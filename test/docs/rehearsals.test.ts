import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../local/start-local.ts';
import { getCommandLine } from '../../testing/command-line.ts';
import { readSnippet } from '../../testing/documents.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

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
const buildNpmFunction = async (): Promise<string> => `npm() { shift 5; node '${await getCommandLine()}' "$@"; }`;

/** Runs blocks of a page in one shell, in their own folder. Returns the lines that they print. */
async function runBlocks(file: string, ...names: readonly string[]): Promise<string[]> {
  const { baseUrl: API, emulatorUrl: STORES, publicKey: PUBLIC, secretKey: SECRET, environment } = service;
  const commands = [await buildNpmFunction(), ...names.map((name) => readSnippet(file, name))].join('\n');
  const env = { ...process.env, ...environment, API, STORES, PUBLIC, SECRET };
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

describe('docs/guides/entitlements.md', () => {
  it('gives premium to the customer of the README, and signs a token', async () => {
    const file = 'docs/guides/entitlements.md';
    const order = {
      platform: 'store_a',
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername: 'alice',
    };
    const bought = await fetch(`${service.emulatorUrl}/control/purchases`, {
      method: 'POST',
      body: JSON.stringify(order),
    });
    const { validate } = (await bought.json()) as { validate: object };
    const authorization = `Basic ${btoa(`${service.appName}:${service.publicKey}`)}`;
    await fetch(`${service.baseUrl}/v1/validate`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify(validate),
    });
    writeFileSync(join(folder, 'products.json'), readSnippet(file, 'catalogue'));
    expect((await runBlocks(file, 'set-catalogue')).at(-1)).toContain('3 products saved.');
    // Running functions use the catalogue within 15 seconds.
    const premium = await waitFor('the entitlement', async () => {
      const [response = ''] = await runBlocks(file, 'read');
      return JSON.parse(response).entitlements.premium;
    });
    expect(premium.source.productId).toBe('store_a:premium');
    const [grant = ''] = await runBlocks(file, 'grant');
    expect(JSON.parse(grant)).toMatchObject({ entitlement: 'premium', isActive: true });
    const [token = ''] = await runBlocks(file, 'token');
    expect(JSON.parse(token).token.split('.')).toHaveLength(3);
  });
});

describe('docs/guides/openiap-clients.md', () => {
  it('verifies evidence of the emulated stores', async () => {
    const lines = await runBlocks('docs/guides/openiap-clients.md', 'try');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { store: 'apple', isValid: true, state: 'ENTITLED' },
      { store: 'google', isValid: true, state: 'ENTITLED' },
    ]);
  });
});
