import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { dayMs } from '../../emulator/calendar.ts';
import { createClock } from '../../emulator/clock.ts';
import { startEmulator } from '../../emulator/start-emulator.ts';
import { type EmulatorClient, startEmulatorClient, type TestResponse } from './emulator-client.ts';
import { waitUntil } from './notification-receiver.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  path = join(folder, 'deeper', 'state.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const start = (): Promise<EmulatorClient> => startEmulatorClient({ clock: createClock(), stateFile: path });

describe('emulator with a state file', () => {
  it('restores keys, products, purchases and clock', async () => {
    const before = await start();
    const purchase = await before.buy({ applicationUsername: 'alice', trial: true, autoRenew: true });
    await before.act(purchase.body.id, 'share', { applicationUsername: 'kid' });
    await before.advance('P1Y');
    const listPlatforms = async (client: EmulatorClient): Promise<unknown> =>
      (await client.control('GET', '/control')).body.platforms;
    const countHistory = async (client: EmulatorClient): Promise<number> => {
      const { body }: TestResponse = await client.callServerApi(`/inApps/v2/history/${purchase.body.id}`);
      return body.signedTransactions.length;
    };
    const saved = {
      platforms: await listPlatforms(before),
      historySize: await countHistory(before),
      clockOffsetMs: before.clock.now() - Date.now(),
    };
    await before.close();
    const after = await start();
    expect(await listPlatforms(after)).toEqual(saved.platforms);
    expect(await countHistory(after)).toBe(saved.historySize);
    expect(after.settings('store_a')).toEqual(before.settings('store_a'));
    expect(after.rootCertificate).toEqual(before.rootCertificate);
    expect(Math.abs(after.clock.now() - Date.now() - saved.clockOffsetMs)).toBeLessThan(10_000);
    expect((await after.buy({ applicationUsername: 'bob' })).body.id).not.toBe(purchase.body.id);
    await after.close();
  });

  it('saves changes before it is closed', async () => {
    const before = await start();
    const { id } = (await before.buy()).body;
    await waitUntil(() => existsSync(path) && readFileSync(path, 'utf8').includes(id));
    before.clock.set(Date.now() + 100 * dayMs);
    await before.control('GET', '/control');
    await waitUntil(() => readFileSync(path, 'utf8').includes('EXPIRED'));
    await before.close();
  });

  it('writes one file that only its owner can read', async () => {
    await (await start()).close();
    expect(readdirSync(join(folder, 'deeper'))).toEqual(['state.json']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    '',
    '{"version":2}',
    '{"version":1,"clockOffsetMs":0,"stores":{}}',
    '{"version":2,"clockOffsetMs":0,"stores":{"store_a":{"keys":"lost"}}}',
  ])('rejects the state file %j and does not change it', async (content) => {
    path = join(folder, 'foreign.json');
    writeFileSync(path, content);
    await expect(start()).rejects.toThrow(path);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });
});

it('rejects a start on a port that is in use', async () => {
  const first = await startEmulatorClient();
  const port = Number(new URL(first.url).port);
  await expect(startEmulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await first.close();
});
