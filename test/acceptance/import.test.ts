import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { platforms } from '../../lib/foundation/platform.ts';
import type { LocalService } from '../../local/start-local.ts';
import { type ApplicationServer, startApplicationServer } from '../../testing/application-server.ts';
import { callLocalControl, callLocalService, type Json, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { type CommandOutcome, runCommand, startCommand } from '../../testing/command-line.ts';
import { createUniqueName } from '../../testing/given.ts';
import { buyImportablePurchases, type ImportablePurchase, toCsv } from '../../testing/import-file.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startRevenueCatStandIn } from '../../testing/revenuecat-stand-in.ts';
import { waitFor } from '../../testing/wait-for.ts';

const purchaseCount = 40;
const withRate = (rate: number) => platforms.flatMap((platform) => ['--rate', `${platform}=${rate}`]);
const fast = withRate(1_000);

/** Slow enough that an import is not finished before the test interrupts it, even on a busy machine. */
const slow = withRate(1);

interface MovedApp {
  readonly appName: string;
  readonly secretKey: string;
  readonly baseUrl: string;
}

let service: LocalService;
let webhookServer: ApplicationServer;
let folder: string;
let purchases: readonly ImportablePurchase[];
beforeAll(async () => {
  [service, webhookServer, folder] = await Promise.all([
    startLocalService(),
    startApplicationServer(),
    mkdtemp(join(tmpdir(), 'claimcheck-import-')),
  ]);
  // The service would record the purchases for the demo app too.
  for (const platform of platforms) await setNotificationUrl(platform, null);
  purchases = await buyImportablePurchases(service, purchaseCount);
}, 1_800_000);
afterAll(async () => {
  await service?.close();
  await webhookServer?.close();
  await rm(folder, { recursive: true, force: true });
});

async function setNotificationUrl(platform: string, url: string | null): Promise<void> {
  await fetch(`${service.emulatorUrl}/control/notifications/${platform}`, {
    method: 'PUT',
    body: JSON.stringify({ url }),
  });
}

const cli = async (args: readonly string[], input?: string): Promise<CommandOutcome> =>
  await runCommand(service.environment, args, input);

/** Creates an app with the settings of all stores. Its server records the webhooks. */
async function givenMovedApp(): Promise<MovedApp> {
  const appName = createUniqueName();
  const { out } = await cli(['app', 'create', appName]);
  for (const platform of platforms) {
    const settings = JSON.stringify(await callLocalControl(service, `/settings/${platform}`));
    expect(await cli(['app', 'set-store', appName, platform, '-'], settings)).toMatchObject({ code: 0 });
  }
  expect(await cli(['app', 'set-webhook', appName, '--url', `${webhookServer.url}/${appName}`])).toMatchObject({
    code: 0,
  });
  return { appName, secretKey: /sec_[\w-]+/.exec(out)?.[0] ?? '', baseUrl: service.baseUrl };
}

const listWebhooks = ({ appName }: MovedApp): Json[] =>
  webhookServer.requests.filter(({ path }) => path === `/${appName}`).map(({ body }) => JSON.parse(body));

/** Writes the rows of the purchases to its own file. */
async function writeRows(rows: readonly Readonly<Record<string, string>>[]): Promise<string> {
  const path = join(folder, `${createUniqueName('purchases')}.csv`);
  await writeFile(path, `\uFEFF${toCsv(rows)}`);
  return path;
}

const readRows = async (app: MovedApp, path: string): Promise<Json[]> => (await callLocalService(app, path)).body.rows;

const readStats = async (app: MovedApp, sandbox: boolean): Promise<Json[]> =>
  (await callLocalService(app, `/v3/stats?include_notifications=true&sandbox=${sandbox}`)).body.dailyStats;

/** Reads what the API shows of an app after an import, when the statistics contain all transactions. */
async function readImported(app: MovedApp, count: number) {
  await waitUntilQueuesEmpty(service);
  const sum = (days: readonly Json[], field: string) => days.reduce((total, day) => total + day[field], 0);
  const days = await waitFor(
    'the statistics of all transactions',
    async () => [...(await readStats(app, false)), ...(await readStats(app, true))],
    (dailyStats) => sum(dailyStats, 'numTransactions') >= count,
  );
  return {
    purchases: (await readRows(app, '/v3/purchases?limit=1000')).sort((a, b) => (a.purchaseId < b.purchaseId ? -1 : 1)),
    transactions: (await readRows(app, '/v3/transactions?limit=1000')).map(({ transactionId }) => transactionId).sort(),
    stats: days.map(({ numRequests: _requests, ...day }) => day),
  };
}

const readProgress = (path: string): number =>
  existsSync(`${path}.progress`) ? JSON.parse(readFileSync(`${path}.progress`, 'utf8')).rows : 0;

/** Makes all stores unavailable after their next two calls. */
const setFaults = async () => {
  for (const platform of platforms) {
    await callLocalControl(service, '/faults', { platform, fault: 'slow', delayMs: 0, times: 2 });
    await callLocalControl(service, '/faults', { platform, fault: 'down', times: 1_000_000 });
  }
};
const clearFaults = async () => await fetch(`${service.emulatorUrl}/control/faults`, { method: 'DELETE' });

afterEach(async () => {
  await clearFaults();
});

describe('claimcheck import', () => {
  let clean: MovedApp;
  let cleanState: Awaited<ReturnType<typeof readImported>>;
  beforeAll(async () => {
    clean = await givenMovedApp();
    const path = await writeRows(purchases.map(({ row }) => row));
    const { code, out } = await cli(['--json', 'import', clean.appName, path, ...fast]);
    expect({ code, report: JSON.parse(out) }).toEqual({
      code: 0,
      report: { rows: purchaseCount, imported: purchaseCount, unchanged: 0, refused: 0 },
    });
    cleanState = await readImported(clean, purchaseCount);
  }, 1_200_000);

  it('imports the purchases of all stores for their customers, without a webhook', async () => {
    expect(cleanState.purchases).toHaveLength(purchaseCount);
    expect(new Set(cleanState.transactions).size).toBe(purchaseCount);
    expect(cleanState.purchases.map(({ entitledUsers }) => entitledUsers).sort()).toEqual(
      purchases.map(({ user }) => [user]).sort(),
    );
    expect(new Set(cleanState.purchases.map(({ platform }) => platform))).toEqual(new Set(platforms));
    expect(cleanState.purchases.filter(({ isExpired }) => isExpired)).toEqual([]);
    expect(listWebhooks(clean)).toEqual([]);
  });

  it('counts repeated rows of a purchase once', async () => {
    const { appName } = await givenMovedApp();
    const path = await writeRows(purchases.slice(0, 3).flatMap(({ row }) => [row, row, row, row]));
    const { code, out } = await cli(['--json', 'import', appName, path, ...fast]);
    expect({ code, report: JSON.parse(out) }).toEqual({
      code: 0,
      report: { rows: 12, imported: 3, unchanged: 9, refused: 0 },
    });
  });

  it.each(['', 'platform,user,token\n'])('rejects a file without rows: %j', async (content) => {
    const path = join(folder, 'empty.csv');
    await writeFile(path, content);
    const { code, error } = await cli(['import', clean.appName, path]);
    expect({ code, error }).toEqual({ code: 1, error: `${path} has no rows.\n` });
    expect(existsSync(`${path}.progress`)).toBe(false);
  });

  it('changes nothing if the same file is imported again', async () => {
    const path = await writeRows(purchases.slice(0, 20).map(({ row }) => row));
    expect(JSON.parse((await cli(['--json', 'import', clean.appName, path, ...fast])).out)).toEqual({
      rows: 20,
      imported: 0,
      unchanged: 20,
      refused: 0,
    });
    expect(await readImported(clean, purchaseCount)).toEqual(cleanState);
    expect(listWebhooks(clean)).toEqual([]);
  }, 300_000);

  it('imports every purchase once despite crashes at random times and an outage of all stores in the middle', async () => {
    const app = await givenMovedApp();
    const rows = purchases.map(({ row }) => row);
    const unknown = { platform: 'store_a', user: 'nobody', originalTransactionId: '1' };
    const path = await writeRows([...rows.slice(0, 10), unknown, ...rows.slice(10)]);
    const command = ['import', app.appName, path];
    for (const crash of [1, 2]) {
      const running = await startCommand(service.environment, [...command, ...slow, '--resume']);
      const exit = once(running, 'exit');
      const target = readProgress(path) + crash + Math.floor(Math.random() * 10);
      await waitFor('further rows', () => running.exitCode !== null || readProgress(path) >= target);
      running.kill('SIGKILL');
      await exit;
    }
    expect(await cli(command)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/unfinished: \d+ rows are done. Pass --resume/),
    });
    await setFaults();
    const stopped = await cli([...command, ...slow, '--resume', '--max-wait', '2']);
    expect(stopped).toMatchObject({ code: 1, out: '' });
    expect(stopped.error).toMatch(/is unavailable.+The import has stopped after \d+ rows .+ --resume to continue/s);
    expect(readProgress(path)).toBeLessThan(purchaseCount);
    await clearFaults();
    const { code, out } = await cli(['--json', ...command, ...fast, '--resume']);
    const refusedFile = `${path}.refused.csv`;
    expect({ code, report: JSON.parse(out) }).toMatchObject({
      code: 3,
      report: { rows: purchaseCount + 1, refused: 1, refusedFile },
    });
    expect(await readFile(refusedFile, 'utf8')).toMatch(
      /^line,platform,evidence,reason\n12,store_a,sha256:[0-9a-f]{12},The purchase is not found in the App Store\.\n$/,
    );
    expect(existsSync(`${path}.progress`)).toBe(false);
    expect(await readImported(app, purchaseCount)).toEqual(cleanState);
    expect(listWebhooks(app)).toEqual([]);
  }, 1_200_000);

  it('announces later renewals of imported purchases, and nothing before', async () => {
    const renewed = purchases.find(({ platform }) => platform === 'store_b');
    await setNotificationUrl('store_b', `${service.baseUrl}/v3/webhook/store_b/${clean.appName}`);
    await callLocalControl(service, `/purchases/${renewed?.id}/renew`, {});
    const webhooks = await waitFor(
      'a webhook',
      () => listWebhooks(clean),
      ({ length }) => length > 0,
    );
    expect(webhooks).toMatchObject([
      { applicationUsername: renewed?.user, notification: { reason: 'RENEWED', purchaseId: `store_b:${renewed?.id}` } },
    ]);
    const from = new Date(Date.now() - 86_400_000).toISOString();
    await cli(['deliveries', 'backfill', clean.appName, '--from', from]);
    await waitUntilQueuesEmpty(service);
    expect(listWebhooks(clean)).toHaveLength(1);
  }, 300_000);

  it('refuses rows that cannot be imported, with their line and without their secrets', async () => {
    const [a, b] = purchases as [ImportablePurchase, ImportablePurchase];
    const token = 'unknown-token-of-a-purchase-that-does-not-exist';
    const path = await writeRows([
      a.row,
      { platform: 'store_b', token },
      { platform: 'amazon', token },
      { ...b.row, receipt: 'both' },
    ]);
    const { code, out, error } = await cli(['import', clean.appName, path, ...fast]);
    const report = await readFile(`${path}.refused.csv`, 'utf8');
    expect({ code, error, out, report }).toEqual({
      code: 3,
      error: '',
      out: `4 rows: 0 imported, 1 unchanged, 3 refused.\nThe refused rows and their reasons are in ${path}.refused.csv. Correct these lines in ${path} and import it again.\n`,
      report: [
        'line,platform,evidence,reason',
        '3,store_b,…xist,"The store does not have the purchase, or has deleted it."',
        '4,,,"platform is not one of store_a, store_b, store_c, processor_a, service_processor_a, processor_b or their brand names."',
        '5,store_b,,"A row of store_b must have token, or receipt, and no column that names another purchase."',
        '',
      ].join('\n'),
    });
    expect(`${out}${error}${report}`).not.toContain(token);
    // The guide: correct or remove the lines in the file and import it again.
    await writeFile(path, toCsv([a.row, b.row]));
    expect(await cli(['--json', 'import', clean.appName, `${path}.refused.csv`])).toMatchObject({
      code: 1,
      error: expect.stringContaining('unknown'),
    });
    const corrected = await cli(['--json', 'import', clean.appName, path, ...fast]);
    expect({ code: corrected.code, report: JSON.parse(corrected.out) }).toEqual({
      code: 0,
      report: { rows: 2, imported: 0, unchanged: 2, refused: 0 },
    });
    expect(existsSync(`${path}.refused.csv`)).toBe(false);
  }, 300_000);

  it.each([
    [
      'store_a',
      ['issuerId', 'keyId', 'privateKey', 'sharedSecret'],
      /The store_a settings lack issuerId.+ sharedSecret,/,
    ],
    ['store_b', ['serviceAccount'], /The store_b settings lack serviceAccount,/],
    ['store_b', ['serviceAccount', 'licenseKey'], /The store_b settings lack serviceAccount,/],
  ] as const)('stops without an import of receipts if the %s settings lack %j', async (platform, names, message) => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const all = await callLocalControl(service, `/settings/${platform}`);
    const settings = Object.fromEntries(
      Object.entries(all).filter(([name]) => !names.some((lacking) => lacking === name)),
    );
    await cli(['app', 'set-store', appName, platform, '-'], JSON.stringify(settings));
    const { validate } = await callLocalControl(service, '/purchases', {
      platform,
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername: appName,
      ...(platform === 'store_a' && { form: 'receipt' }),
    });
    const { appStoreReceipt, receipt = appStoreReceipt, signature = '' } = validate.transaction;
    const path = await writeRows([{ platform, user: 'ann', receipt, ...(signature && { signature }) }]);
    expect(await cli(['import', appName, path])).toMatchObject({ code: 1, error: expect.stringMatching(message) });
    expect(existsSync(`${path}.refused.csv`)).toBe(false);
  });

  it('imports a file after its header has been corrected', async () => {
    const { appName } = await givenMovedApp();
    const path = await writeRows(purchases.slice(0, 3).map(({ row }) => row));
    const csv = await readFile(path, 'utf8');
    await writeFile(path, csv.replace('user', 'usr'));
    const stopped = await cli(['import', appName, path]);
    expect(stopped).toMatchObject({
      code: 1,
      error: expect.stringMatching(
        /The column "usr" is unknown.+before the first row.+Correct it and run the command again\.\n$/s,
      ),
    });
    await writeFile(path, csv);
    expect(await cli(['import', appName, path])).toMatchObject({ code: 0 });
  }, 300_000);

  it('stops without an import if the store settings are missing', async () => {
    const appName = createUniqueName();
    await cli(['app', 'create', appName]);
    const path = await writeRows(purchases.slice(0, 3).map(({ row }) => row));
    expect(await cli(['import', appName, path])).toMatchObject({
      code: 1,
      error: expect.stringMatching(
        /The app has no store_a settings. \(line 2\) The import has stopped before the first row/,
      ),
    });
    expect(existsSync(`${path}.refused.csv`)).toBe(false);
  }, 300_000);
});

describe('claimcheck import --from', () => {
  it('creates the grants of a project of RevenueCat without purchases once, despite rate limits', async () => {
    const { appName } = await givenMovedApp();
    const grant = {
      id: 'g1',
      store: 'promotional',
      gives_access: true,
      entitlements: { items: [{ lookup_key: 'pro' }] },
    };
    const key = 'sk_test_0123456789';
    const standIn = await startRevenueCatStandIn({
      ...{ key, rejectedInterval: 4, products: [], entitlements: [], listIds: () => ['ann'] },
      findCustomer: async (id) => ({ id, subscriptions: [grant] }),
    });
    const environment = { ...service.environment, CLAIMCHECK_OTHER_KEY: key };
    const args = ['import', appName, '-', '--from', 'revenuecat', '--api-url', `${standIn.url}/v2`];
    const run = async () => {
      const command = await startCommand(environment, args, { cwd: folder });
      const ended = once(command, 'exit');
      return { out: await text(command.stdout), code: ((await ended) as [number])[0] };
    };
    expect(await run()).toEqual({ code: 0, out: expect.stringMatching(/0 rows.*\n1 grant created/) });
    expect(await run()).toEqual({ code: 0, out: expect.not.stringMatching(/created/) });
    expect(standIn.countRejected()).toBeGreaterThan(0);
    await standIn.close();
  });

  it('rejects a dry run of a conversion that is complete, and imports nothing', async () => {
    const { appName } = await givenMovedApp();
    const path = await writeRows([]);
    await writeFile(`${path}.rows.jsonl`, JSON.stringify(purchases[0]?.row));
    const outcome = await cli(['import', appName, path, '--from', 'revenuecat', '--dry-run', '--resume']);
    expect(outcome).toMatchObject({ code: 2, error: expect.stringContaining('Omit it to import the rows.') });
    expect(existsSync(`${path}.rows.jsonl.progress`)).toBe(false);
  });

  it.each([
    [['-', '--from', 'revenuecat'], 2, /CLAIMCHECK_OTHER_KEY/],
    [['-', '--from', 'adapty'], 2, /- needs --from revenuecat.*Pass the path of a file/],
    [['x.csv', '--dry-run'], 2, /--dry-run needs --from revenuecat, adapty or qonversion/],
    [['x.csv', '--dry-run', '--resume'], 2, /--dry-run needs --from/],
    [['x.jsonl', '--from', 'iaptic', '--dry-run'], 2, /--dry-run needs --from/],
    [['-', '--from', 'iaptic', '--dry-run'], 2, /- needs --from revenuecat/],
    [['-'], 2, /- needs --from revenuecat/],
    [['x.csv', '--from', 'purchasely'], 2, /Allowed choices/],
    [['x.csv', '--from', 'adapty'], 1, /x\.csv is not found/],
    [['x.csv', '--api-rate', '0'], 2, /--api-rate/],
  ])('rejects %j', async (args, code, message) => {
    expect(await cli(['import', 'any-app', ...args])).toMatchObject({ code, error: expect.stringMatching(message) });
  });
});
