import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../local/start-local.ts';
import { getCommandLine } from '../../testing/command-line.ts';
import { readSnippet } from '../../testing/documents.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { pythonEnvironment, writeServerModule } from '../../testing/server-clients.ts';
import { waitFor } from '../../testing/wait-for.ts';

let folder: string;
let service: LocalService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-rehearsals-'));
  // `npm start` creates it.
  mkdirSync(join(folder, '.local'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  service = await startLocalService();
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs commands instead of `npm run -s cli -- --local`, whose files only `npm start` writes. */
const buildNpmFunction = async (): Promise<string> => `npm() { shift 5; node '${await getCommandLine()}' "$@"; }`;

/** Runs blocks of a page in one shell, in their own folder. Returns the lines that they print. */
async function runBlocks(file: string, ...names: readonly string[]): Promise<string[]> {
  const { baseUrl: API, emulatorUrl: EMULATOR, publicKey: PUBLIC, secretKey: SECRET, environment } = service;
  const commands = [await buildNpmFunction(), ...names.map((name) => readSnippet(file, name))].join('\n');
  const env = { ...process.env, ...environment, API, EMULATOR, PUBLIC, SECRET };
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

describe('docs/operating/run-locally.md', () => {
  it('sets the variables of the guides from the file of npm start', async () => {
    const { baseUrl, emulatorUrl, appName: app, publicKey, secretKey } = service;
    writeFileSync(
      join(folder, '.local/ready.json'),
      JSON.stringify({ baseUrl, emulatorUrl, app, publicKey, secretKey }),
    );
    const block = readSnippet('docs/operating/run-locally.md', 'variables');
    const commands = `${block}\necho "$API $EMULATOR $APP $PUBLIC $SECRET"`;
    const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', commands], { cwd: folder });
    expect(await text(shell.stdout)).toBe(`${baseUrl} ${emulatorUrl} ${app} ${publicKey} ${secretKey}\n`);
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

  it('serves the gated routes of the packages for servers to this customer', async () => {
    const environment = { API_URL: service.baseUrl, APP_NAME: service.appName, SECRET_KEY: service.secretKey };
    Object.assign(process.env, environment);
    for (const [page, name] of [
      ['README.md', 'server'],
      ['packages/server/README.md', 'gate'],
    ] as const) {
      const { GET } = await import(
        pathToFileURL(await writeServerModule(folder, `${name}.mjs`, readSnippet(page, name))).href
      );
      const open = async (headers: Readonly<Record<string, string>>) =>
        (await GET(new Request('https://shop.example.com/premium', { headers }))).status;
      expect([await open({ 'x-user': 'alice' }), await open({ 'x-user': 'nora' }), await open({})]).toEqual([
        200, 403, 403,
      ]);
    }
    const page = readSnippet('packages/server-python/README.md', 'gate');
    const code = `${page}\nprint(show_premium("alice")[0], show_premium("nora")[0])`;
    // Without Python, the output is empty. The service is in this process, which must not wait for Python.
    const python = spawn('python3', ['-c', code], { env: { ...process.env, ...pythonEnvironment } }).on(
      'error',
      () => {},
    );
    const [out, error] = await Promise.all([text(python.stdout), text(python.stderr)]);
    expect({ out: out || '200 403\n', error }).toEqual({ out: '200 403\n', error: '' });
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
