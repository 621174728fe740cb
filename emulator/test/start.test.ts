import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readState } from '../state-file.ts';

const program = join(import.meta.dirname, '../bin.js');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('store-emulator', () => {
  it('starts the stores at the date of --clock, writes the root certificate and saves the state at SIGTERM', async () => {
    const [stateFile, certificate] = [join(folder, 'state.json'), join(folder, 'root.pem')];
    const options = ['--port', '0', '--clock', '2027-01-31T10:00:00Z', '--state-file', stateFile];
    const child = spawn(process.execPath, [program, ...options, '--root-certificate', certificate], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = await once(child.stdout, 'data');
    const [url = ''] = String(output).match(/http:\S+\/control/) ?? [];
    const order = { platform: 'store_a', productId: 'monthly', type: 'paid subscription' };
    const purchase = await fetch(`${url}/purchases`, { method: 'POST', body: JSON.stringify(order) });
    expect(await purchase.json()).toMatchObject({ expiresDate: expect.stringMatching(/^2027-02-28T10:0/) });
    expect(readFileSync(certificate, 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----\n/);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    const { clockOffsetMs = 0 } = (await readState(stateFile)) ?? {};
    expect(new Date(Date.now() + clockOffsetMs).toISOString()).toMatch(/^2027-01-31/);
  });

  it.each([
    [['--port', '70000'], 'Must be a number from 0 to 65535.'],
    [['--clock', 'tomorrow'], 'Must be an ISO 8601 date'],
  ])('rejects %j', (options, message) => {
    const { status, stderr } = spawnSync(process.execPath, [program, ...options], { encoding: 'utf8' });
    expect(stderr).toContain(message);
    expect(status).toBe(1);
  });
});
