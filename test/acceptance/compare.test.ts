import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startHttpServer } from '../../local/http-server.ts';
import type { LocalService } from '../../local/start-local.ts';
import { callLocalControl, callLocalService, type Json } from '../../testing/call-local.ts';
import { type CommandOutcome, runCommand } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

const subscription = { productId: 'premium', type: 'paid subscription' } as const;
const orders = [
  { platform: 'store_a', ...subscription },
  { platform: 'store_b', ...subscription, form: 'brand' },
  { platform: 'store_b', ...subscription },
  { platform: 'store_b', productId: 'coins', type: 'consumable' },
  { platform: 'store_c', ...subscription },
  { platform: 'processor_a', ...subscription },
] as const;

/** The order that the store of the other validator refunds. */
const planted = 2;

let folder: string;
let here: LocalService;
let there: LocalService;
const purchases: { readonly id: string; readonly body: Json }[] = [];

/** Starts two services with the same purchases at their stores: the second data folder is a copy of the first. */
async function startTwins(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'claimcheck-compare-'));
  const [first, second] = [join(folder, 'here'), join(folder, 'there')];
  const original = await startLocalService({ folder: first });
  for (const [index, order] of orders.entries()) {
    const applicationUsername = `user-${index}`;
    const { id, validate } = await callLocalControl(original, '/purchases', { ...order, applicationUsername });
    purchases.push({ id, body: { ...validate, additionalData: { applicationUsername } } });
  }
  await original.close();
  await cp(first, second, { recursive: true });
  here = await startLocalService({ folder: first });
  there = await startLocalService({ folder: second });
}

beforeAll(startTwins, 900_000);
afterAll(async () => {
  await here?.close();
  await there?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command with the key of the other validator in the environment. */
const compare = async (
  args: readonly string[],
  { key = there.publicKey, url = there.baseUrl } = {},
): Promise<CommandOutcome> =>
  await runCommand({ ...here.environment, CLAIMCHECK_OTHER_KEY: key }, [
    '--json',
    'compare',
    here.appName,
    ...args,
    '--with',
    url,
    '--rate',
    '1000',
  ]);

async function writeLines(name: string, lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

const writeBodies = async (): Promise<string> =>
  await writeLines(
    'bodies.jsonl',
    purchases.map(({ body }) => JSON.stringify(body)),
  );

describe('claimcheck compare', () => {
  it('reports no difference between equal services, and does not repeat a validation that charges', async () => {
    const nonce = { id: 'premium', type: 'consumable', transaction: { type: 'braintree', paymentMethodNonce: 'abc' } };
    const path = await writeLines(
      'all.jsonl',
      [...purchases.map(({ body }) => body), nonce].map((body) => JSON.stringify(body)),
    );
    const { code, out, error } = await compare([path]);
    expect({ code, error, report: JSON.parse(out) }).toEqual({
      code: 0,
      error: '',
      report: {
        rows: 7,
        compared: 6,
        equal: 6,
        differences: [],
        notCompared: [
          {
            line: 7,
            isExcluded: true,
            reason: 'A validation of Braintree charges the customer, so it is not repeated.',
          },
        ],
      },
    });
    expect(`${out}${error}`).not.toContain(there.publicKey);
  }, 300_000);

  it('lists a planted difference and nothing else', async () => {
    const { id } = await callLocalControl(there, `/purchases/${purchases[planted]?.id}/revoke`, {});
    // The reason comes with the last of its notifications.
    const readReason = async () =>
      (await callLocalService(there, `/v3/purchases/store_b:${id}`)).body.cancelationReason;
    await waitFor('the reason of the revocation', readReason, (reason) => reason === 'Developer');
    const { code, out } = await compare([await writeBodies()]);
    expect({ code, report: JSON.parse(out) }).toEqual({
      code: 3,
      report: {
        rows: 6,
        compared: 6,
        equal: 5,
        notCompared: [],
        differences: [
          {
            line: planted + 1,
            user: `user-${planted}`,
            field: 'ok',
            here: true,
            there: 'no: Transaction has expired or was cancelled.',
          },
        ],
      },
    });
  }, 300_000);

  it('lists the planted difference in the purchases of the customers', async () => {
    const path = await writeLines('users.csv', ['user', ...orders.map((_, index) => `user-${index}`)]);
    const { code, out } = await compare([path, '--users'], { key: there.secretKey });
    const expected = { line: planted + 2, user: `user-${planted}`, productId: 'premium' };
    expect({ code, report: JSON.parse(out) }).toEqual({
      code: 3,
      report: {
        rows: 6,
        compared: 6,
        equal: 5,
        notCompared: [],
        differences: [
          { ...expected, field: 'owned', here: true, there: false },
          { ...expected, field: 'expiryDate', here: expect.any(String), there: expect.any(String) },
          { ...expected, field: 'cancelationReason', there: 'Developer' },
        ],
      },
    });
  }, 300_000);

  it('retries a validator that is unavailable, and never reports its failure as a difference', async () => {
    let requests = 0;
    const server = await startHttpServer(async (request, response) => {
      requests++;
      const body = Buffer.concat(await request.toArray());
      const isFirst = requests % 2 === 1;
      if (isFirst) return void response.writeHead(503).end('<html>');
      const { authorization = '' } = request.headers;
      const forwarded = await fetch(there.baseUrl + request.url, { method: 'POST', headers: { authorization }, body });
      response.writeHead(forwarded.status).end(await forwarded.text());
    });
    const [{ body }] = purchases as [(typeof purchases)[number]];
    const path = await writeLines('one.jsonl', [JSON.stringify(body)]);
    expect(JSON.parse((await compare([path], { url: server.url })).out)).toMatchObject({ compared: 1, equal: 1 });
    await server.close();
    const { code, out } = await compare([path, '--max-wait', '1'], { url: server.url });
    expect({ code, report: JSON.parse(out) }).toEqual({
      code: 1,
      report: {
        rows: 1,
        compared: 0,
        equal: 0,
        differences: [],
        notCompared: [{ line: 1, reason: 'The other validator does not respond.' }],
      },
    });
  }, 300_000);

  it('does not compare if the other validator rejects the key, and leaves no key behind', async () => {
    const wrongKey = 'pub_the-key-of-another-app';
    const { code, out, error } = await compare([await writeBodies()], { key: wrongKey });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ compared: 0, differences: [] });
    expect(out).toMatch(/The other validator rejected the app or its key/);
    expect(`${out}${error}`).not.toContain(wrongKey);
    const keys = await runCommand(here.environment, ['--json', 'key', 'list', here.appName]);
    expect(keys.out).not.toContain('compare-');
  }, 300_000);

  it.each([
    [['--with', 'http://validator.example.com'], /Expected the base URL of a validator with https/],
    [['--with', 'https://user:password@validator.example.com'], /Expected the base URL/],
    [['--with', 'revenuecat'], /Pass the key of the other validator as CLAIMCHECK_OTHER_KEY or --key/],
    [['--with', 'revenuecat', '--key', 'sk_test'], /Pass --users: RevenueCat is compared by customers/],
    [['--with', 'adapty', '--key', 'sk_test'], /Expected the base URL/],
  ])('rejects wrong usage: %j', async (args, message) => {
    const outcome = await runCommand(here.environment, ['compare', here.appName, 'bodies.jsonl', ...args]);
    expect(outcome).toMatchObject({ code: 2, out: '', error: expect.stringMatching(message) });
  });
});
