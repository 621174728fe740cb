import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClock } from '../../emulator/clock.ts';
import { startEmulator } from '../../emulator/start-emulator.ts';
import { type EmulatorClient, startEmulatorClient, type TestResponse } from './emulator-client.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  path = join(folder, 'deeper', 'state.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Whether it becomes so within five seconds. */
async function becomes(isSo: () => boolean): Promise<boolean> {
  const deadline = Date.now() + 5_000;
  while (!isSo() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  return isSo();
}

const startAgain = (): Promise<EmulatorClient> => startEmulatorClient({ clock: createClock(), stateFile: path });

describe('an emulator with a state file', () => {
  it('starts again with its keys, products, purchases and clock', async () => {
    const before = await startAgain();
    const bought = await before.buy({ applicationUsername: 'alice', trial: true, autoRenew: true });
    await before.act(bought.body.id, 'share', { applicationUsername: 'kid' });
    await before.advance('P1Y');
    const lists = async (user: EmulatorClient): Promise<unknown> =>
      (await user.control('GET', '/control')).body.platforms;
    const history = async (user: EmulatorClient): Promise<number> => {
      const { body }: TestResponse = await user.callServerApi(`/inApps/v2/history/${bought.body.id}`);
      return body.signedTransactions.length;
    };
    const kept = { lists: await lists(before), history: await history(before), now: before.clock.now() };
    await before.close();
    const after = await startAgain();
    expect(await lists(after)).toEqual(kept.lists);
    expect(await history(after)).toBe(kept.history);
    expect(after.settings('store_a')).toEqual(before.settings('store_a'));
    expect(after.rootCertificate).toEqual(before.rootCertificate);
    expect(Math.abs(after.clock.now() - kept.now)).toBeLessThan(10_000);
    expect((await after.buy({ applicationUsername: 'bob' })).body.id).not.toBe(bought.body.id);
    await after.close();
  });

  it('keeps what happened also when it is not stopped in order', async () => {
    const before = await startAgain();
    const { id } = (await before.buy()).body;
    expect(await becomes(() => existsSync(path) && readFileSync(path, 'utf8').includes(id))).toBe(true);
    before.clock.set(Date.now() + 100 * 86_400_000);
    await before.control('GET', '/control');
    expect(await becomes(() => readFileSync(path, 'utf8').includes('EXPIRED'))).toBe(true);
    await before.close();
  });

  it('leaves one file that only its owner reads', async () => {
    await (await startAgain()).close();
    expect(readdirSync(join(folder, 'deeper'))).toEqual(['state.json']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each(['', '{"version":2}', '{"version":1,"clockOffsetMs":0,"stores":{"store_a":{"keys":"lost"}}}'])(
    'refuses to start on %j and leaves it alone',
    async (content) => {
      path = join(folder, 'foreign.json');
      writeFileSync(path, content);
      await expect(startAgain()).rejects.toThrow(path);
      expect(readFileSync(path, 'utf8')).toBe(content);
    },
  );
});

it('says when its port is taken', async () => {
  const first = await startEmulatorClient();
  const port = Number(new URL(first.url).port);
  await expect(startEmulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await first.close();
});
