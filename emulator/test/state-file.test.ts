import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../calendar.ts';
import { createClock } from '../clock.ts';
import { startEmulator } from '../start-emulator.ts';
import { applyStateChange, computeChanges } from '../state-changes.ts';
import { readState } from '../state-file.ts';
import { type EmulatorClient, startEmulatorClient, type TestResponse } from './emulator-client.ts';
import { waitUntil } from './notification-receiver.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  path = join(folder, 'deeper', 'state.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const start = (options: { readonly keys?: undefined } = {}): Promise<EmulatorClient> =>
  startEmulatorClient({ clock: createClock(), stateFile: path, ...options });

describe('emulator with a state file', () => {
  it('restores keys, products, purchases and clock', async () => {
    const before = await start({ keys: undefined });
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
    // Starts with the keys of the test run, which differ from those in the file.
    const after = await start();
    expect(await listPlatforms(after)).toEqual(saved.platforms);
    expect(await countHistory(after)).toBe(saved.historySize);
    for (const platform of ['store_a', 'store_b', 'store_c'])
      expect(after.settings(platform)).toEqual(before.settings(platform));
    expect(after.rootCertificate).toEqual(before.rootCertificate);
    expect(Math.abs(after.clock.now() - Date.now() - saved.clockOffsetMs)).toBeLessThan(10_000);
    expect((await after.buy({ applicationUsername: 'bob' })).body.id).not.toBe(purchase.body.id);
    await after.close();
  });

  it('restores the settings of accounts, usage, pending invoice items and due dates', async () => {
    const before = await start();
    await before.control('PUT', '/control/accounts/processor_a', { failedPayments: 'past_due', listLength: 3 });
    for (const platform of ['store_a', 'store_b', 'store_c', 'processor_b'])
      await before.control('PUT', `/control/accounts/${platform}`, { listLength: 4 });
    const order = { platform: 'processor_a', productId: 'calls', metered: true, priceMicros: 1_000_000 };
    const { id } = (await before.buy(order)).body;
    await before.act(id, 'report-usage', { quantity: 7 });
    await before.act(id, 'invoice-item', { priceMicros: 2_000_000 });
    const emailed = { platform: 'processor_a', productId: 'emailed', collection: 'send_invoice' };
    const { id: emailedId } = (await before.buy(emailed)).body;
    await before.close();

    const after = await start();
    const { platforms } = (await after.control('GET', '/control')).body;
    expect(platforms.processor_a.accountSettings).toEqual({ failedPayments: 'past_due', listLength: 3 });
    expect(platforms.store_c.accountSettings).toEqual({ listLength: 4 });
    expect((await after.act(id, 'renew')).body.payments).toMatchObject([{ amountMicros: 9_000_000 }]);
    await after.advance('P31D');
    expect((await after.control('GET', `/control/purchases/${emailedId}`)).body.state).toBe('past_due');
    await after.close();
  });

  it('keeps every acknowledged change through SIGKILL', async () => {
    const { child, url } = await startProcess();
    const acknowledged: TestResponse['body'][] = [];
    for (let number = 0; number < 15; number += 1) {
      for (const order of orders) {
        const {
          validate: _evidence,
          notifications: _sent,
          ...purchase
        } = await post(`${url}/control/purchases`, order);
        acknowledged.push(purchase);
      }
    }
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const after = await start();
    const restored: TestResponse['body'][] = [];
    for (const { id } of acknowledged) restored.push((await after.control('GET', `/control/purchases/${id}`)).body);
    await after.close();
    expect(restored).toEqual(acknowledged.map((purchase) => expect.objectContaining(purchase)));
  });

  it('writes the change of a purchase and not all purchases', async () => {
    const client = await start();
    for (let number = 0; number < 100; number += 1) await client.buy();
    const sizeBefore = statSync(path).size;
    await client.buy();
    const addedBytes = statSync(path).size - sizeBefore;
    await client.close();
    expect(addedBytes).toBeGreaterThan(0);
    expect(addedBytes).toBeLessThan(statSync(path).size / 10);
  });

  it('reads the same state from changes and from the compacted file', async () => {
    const client = await start();
    for (const order of orders) {
      const { id } = (await client.control('POST', '/control/purchases', order)).body;
      await client.control('POST', '/control/purchases', { ...order, productId: 'coins', type: 'consumable' });
      for (const action of ['cancel', 'uncancel', 'renew', 'refund', 'revoke']) await client.act(id, action);
    }
    await client.advance('P2M');
    const changed = await readState(path);
    await client.close();
    expect(await readState(path)).toEqual({ ...changed, clockOffsetMs: expect.any(Number) });
  });

  it('ignores an incomplete last line', async () => {
    const before = await start();
    const { id } = (await before.buy()).body;
    await before.close();
    appendFileSync(path, '[{"path":["stores"');
    const after = await start();
    const { status } = await after.control('GET', `/control/purchases/${id}`);
    await after.close();
    expect(status).toBe(200);
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

const orders = ['store_a', 'store_b', 'store_c', 'processor_a', 'service_processor_a', 'processor_b'].map(
  (platform) => ({
    platform,
    productId: 'monthly',
    type: 'paid subscription',
  }),
);

/** Starts the command with the state file in its own process. The file has the keys of the test run. */
async function startProcess() {
  await (await start()).close();
  const program = join(import.meta.dirname, '../bin.js');
  const child = spawn(process.execPath, [program, '--port', '0', '--state-file', path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await once(child.stdout, 'data');
  const [url = ''] = String(output).match(/http:\/\/[\d.:]+(?=\/control)/) ?? [];
  return { child, url };
}

async function post(url: string, body: object): Promise<TestResponse['body']> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return await response.json();
}

it('rejects a start on a port that is in use', async () => {
  const first = await startEmulatorClient();
  const port = Number(new URL(first.url).port);
  await expect(startEmulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await first.close();
});

const program = join(import.meta.dirname, '../bin.js');

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

const records = Array.from({ length: 6 }, (_, id) => ({ id }));
const Record = fc.constantFrom(...records);
const State = fc.record(
  {
    records: fc.array(Record),
    rows: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), Record)),
    names: fc.array(fc.constantFrom('x', 'y', 'z')),
    settings: fc.dictionary(fc.constantFrom('u', 'v'), fc.oneof(fc.string(), fc.integer())),
    time: fc.integer(),
  },
  { requiredKeys: ['records', 'time'] },
);

const apply = (before: unknown, after: unknown): unknown =>
  JSON.parse(JSON.stringify(computeChanges(before, after))).reduce(applyStateChange, before);

describe('computeChanges', () => {
  it('returns changes that lead from one state to the other', () => {
    fc.assert(fc.property(State, State, (before, after) => expect(apply(before, after)).toEqual(after)));
  });

  it('returns nothing for a new list of the same elements', () => {
    const toState = () => ({ records: [...records], rows: records.map((record) => [String(record.id), record]) });
    expect(computeChanges(toState(), toState())).toEqual([]);
  });

  it('contains only the replaced and the added elements of a list', () => {
    const replaced = { id: 1 };
    const added = { id: 7 };
    const [first, , ...others] = records;
    expect(computeChanges({ records }, { records: [first, replaced, ...others.slice(1), added] })).toEqual([
      {
        path: ['records'],
        parts: [{ copy: [0, 1] }, { insert: [replaced] }, { copy: [3, 6] }, { insert: [added] }],
      },
    ]);
  });
});
