import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startCommand } from '../../../testing/command-line.ts';
import { type RevenueCatStandIn, startRevenueCatStandIn } from '../../../testing/revenuecat-stand-in.ts';
import { createTestTable } from '../../../testing/table.ts';
import { waitFor } from '../../../testing/wait-for.ts';

const key = 'sk_test_0123456789';
const folder = mkdtempSync(join(tmpdir(), 'claimcheck-pull-'));
const ids = Array.from({ length: 250 }, (_, index) => `customer-${String(index).padStart(3, '0')}`);

/** The stand-in does not respond about a customer from this one on before the command was killed. */
const hangingFrom = 220;

let standIn: RevenueCatStandIn;
let requested: string[] = [];
let isHanging = true;
const never = new Promise<undefined>(() => {});

beforeAll(async () => {
  await createTestTable();
  const grant = { store: 'promotional', gives_access: true, entitlements: { items: [{ lookup_key: 'pro' }] } };
  standIn = await startRevenueCatStandIn({
    ...{ key, products: [], entitlements: [], listIds: () => ids },
    async findCustomer(id) {
      if (isHanging && ids.indexOf(id) >= hangingFrom) return await never;
      requested.push(id);
      return { id, subscriptions: [{ id: `grant of ${id}`, ...grant }] };
    },
  });
});
afterAll(async () => {
  await standIn?.close();
  rmSync(folder, { recursive: true, force: true });
});

const startPull = async (args: readonly string[] = []) => {
  const command = ['--json', 'import', 'my-app', '-', '--from', 'revenuecat', '--api-url', `${standIn.url}/v2`];
  const rates = ['--api-rate', '1000', '--dry-run'];
  return await startCommand({ CLAIMCHECK_OTHER_KEY: key, MASTER_KEY_ID: 'unused' }, [...command, ...rates, ...args], {
    cwd: folder,
  });
};

it('continues a pull from RevenueCat after the process was killed, also in the middle of a line', async () => {
  // The rows of an earlier run differ from those of the killed run.
  writeFileSync(join(folder, 'revenuecat-my-app.rows.jsonl'), '{"platform":"store_a"}\n');
  const killed = await startPull();
  const exit = once(killed, 'exit');
  const file = join(folder, 'revenuecat-my-app.customers.jsonl');
  const readDone = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);
  await waitFor('two pages', () => killed.exitCode !== null || readDone().length >= 200);
  killed.kill('SIGKILL');
  expect(await exit).toEqual([null, 'SIGKILL']);
  const done = readDone();
  appendFileSync(file, '{"id":"customer-0');
  [isHanging, requested] = [false, []];
  const resumed = await startPull(['--resume']);
  const ended = once(resumed, 'exit');
  const [out, error] = await Promise.all([text(resumed.stdout), text(resumed.stderr)]);
  expect({ exit: await ended, error }).toEqual({ exit: [0, null], error: '' });
  expect(JSON.parse(out)).toMatchObject({ customers: ids.length, grants: ids.length });
  expect(readDone().slice(0, done.length)).toEqual(done);
  expect(readDone().map((line) => JSON.parse(line).id)).toEqual(ids);
  expect([...new Set(requested)].toSorted()).toEqual(ids.slice(done.length));
});
