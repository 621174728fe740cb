import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { createFolderTarget } from '../../../cli/export/folder-target.ts';
import type { App } from '../../../lib/apps/app.ts';
import type { Catalogue } from '../../../lib/apps/catalogue.ts';
import { storeCatalogue } from '../../../lib/apps/catalogue-table.ts';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { eraseCustomer } from '../../../lib/customer-data/erase-customer.ts';
import { mergeCustomers } from '../../../lib/customer-data/merge-customers.ts';
import { eraseFromExports } from '../../../lib/export/erase-from-exports.ts';
import { type ExportAppOptions, exportApp } from '../../../lib/export/export-app.ts';
import {
  ExportedCredit,
  ExportedCustomer,
  ExportedEntitlement,
  ExportedPurchase,
  ExportedTransaction,
  toExportedTransaction,
} from '../../../lib/export/export-rows.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { dayMs, hourMs } from '../../../lib/foundation/time.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { rebuildCustomerSummary } from '../../../lib/statistics/rebuild-customer-summary.ts';
import { recount } from '../../../lib/statistics/recount.ts';
import { createExportService } from '../../../testing/export-service.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { givenCustomer } from '../../../testing/given-customer.ts';
import { buildLinkInput, recordObservation } from '../../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-export-'));
  folders.push(folder);
  return folder;
};

const rowSchemas = {
  purchases: v.array(ExportedPurchase),
  transactions: v.array(ExportedTransaction),
  customers: v.array(ExportedCustomer),
  entitlements: v.array(ExportedEntitlement),
  credits: v.array(ExportedCredit),
};

const readRows = (folder: string, path: string): unknown[] =>
  gunzipSync(readFileSync(join(folder, path)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const readTable = <T extends keyof typeof rowSchemas>(folder: string, name: T, suffix = '', day = '2026-01-01') =>
  v.parse(rowSchemas[name], readRows(folder, `dt=${day}/${name}${suffix}.jsonl.gz`)) as v.InferOutput<
    (typeof rowSchemas)[T]
  >;

/** An app with the purchases of `givenCustomer`, an export of it at a time of the test, and its folder. */
async function givenExport(
  catalogue: Catalogue = {
    monthly: { type: 'paid subscription', entitlements: ['premium'] },
  },
) {
  const folder = createFolder();
  const service = createExportService(table);
  const app = await getApp(service, (await givenApp(table)).appName);
  await storeCatalogue(service, app.name, catalogue);
  const [username, companion] = [createUniqueName('user'), createUniqueName('companion')];
  await givenCustomer(service, app, { username, alias: createUniqueName('alias'), companion });
  const run = async (options: Partial<ExportAppOptions> = {}, target = createFolderTarget(folder)) =>
    await exportApp(service, app, await target, { kind: 'full', ...options });
  return { folder, app, username, companion, service, run, moveTo: service.moveTo };
}

const lostAt = startDate + 3 * dayMs;
const id = 'store_a:shared-by-three';
const guestPurchase = createObservation({ purchaseId: id, transactionId: id });
const key = { id: 'key', name: 'alice' } as const;
type Lose = (service: Service, app: App) => Promise<unknown>;

describe('exportApp', () => {
  it('writes all purchases, transactions, customers, entitlements and credits below the day', async () => {
    const { folder, run, username, companion } = await givenExport();
    const { files } = await run();
    expect(files.map(({ path }) => path)).toEqual([
      'dt=2026-01-01/purchases.jsonl.gz',
      'dt=2026-01-01/transactions.jsonl.gz',
      'dt=2026-01-01/customers.jsonl.gz',
      'dt=2026-01-01/entitlements.jsonl.gz',
      'dt=2026-01-01/credits.jsonl.gz',
    ]);
    expect(readTable(folder, 'purchases').map(({ purchaseId }) => purchaseId)).toEqual(
      expect.arrayContaining(['store_a:owned', 'store_a:unclaimed', 'processor_b:owned', 'store_b:consumable']),
    );
    expect(readTable(folder, 'transactions')).toContainEqual(
      expect.objectContaining({ seq: startDate, purchaseId: 'store_a:owned', refunds: [] }),
    );
    const customers = readTable(folder, 'customers').map(({ applicationUsername }) => applicationUsername);
    expect(customers.sort()).toEqual([companion, username, 'guest-of-the-first-day'].sort());
    expect(readTable(folder, 'entitlements')).toContainEqual(
      expect.objectContaining({ applicationUsername: username, entitlement: 'premium', isActive: true }),
    );
    const totals = { balance: 5, granted: 5, spent: 0, takenBack: 0, expired: 0 };
    expect(readTable(folder, 'credits')).toEqual([
      { seq: startDate, applicationUsername: username, isSandbox: false, credit: 'coins', ...totals },
    ]);
  });

  it('writes the proceeds that the store reports', () => {
    const { purchase } = createObservation();
    const transaction = createTransaction(purchase, { amountMicros: 8_990_000, storeProceedsMicros: 7_641_500 });
    expect(toExportedTransaction(transaction, purchase, startDate)).toMatchObject({ storeProceedsMicros: 7_641_500 });
    expect(toExportedTransaction(createTransaction(purchase), purchase, startDate)).not.toHaveProperty(
      'storeProceedsMicros',
    );
  });

  it('writes the entitlements of grants for an app whose products give none', async () => {
    const { folder, run, username } = await givenExport({});
    await run();
    expect(readTable(folder, 'entitlements')).toMatchObject([
      { applicationUsername: username, entitlement: 'premium', isActive: true, sourceType: 'grant' },
    ]);
  });

  it('writes a schema that lists the members of all rows', async () => {
    const { folder, run } = await givenExport();
    await run();
    const { $defs } = JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8'));
    for (const name of Object.keys(rowSchemas) as (keyof typeof rowSchemas)[]) {
      const members = Object.keys($defs[name].properties);
      for (const row of readTable(folder, name)) expect(members).toEqual(expect.arrayContaining(Object.keys(row)));
    }
    expect($defs.transactions.properties.amountUSD.type).toEqual(['number', 'null']);
    expect($defs.transactions.properties.amountMicros.type).toEqual(['integer', 'null']);
  });

  it('contains no secrets, and only its owner can read it', async () => {
    const { folder, run } = await givenExport();
    const { files } = await run();
    for (const { path } of files) {
      expect(JSON.stringify(readRows(folder, path))).not.toMatch(
        /refreshToken|originalTransactionId|purchaseKey|vault-1/,
      );
      expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
    }
  });

  it('exports the changes since the latest export with their customers', async () => {
    const { folder, app, run, moveTo, service, companion } = await givenExport();
    moveTo(startDate + 2 * dayMs);
    await run();
    const changedAt = startDate + 3 * dayMs;
    await recordPurchase(service, app.name, 'store_a:owned', buildLinkInput(companion, changedAt));
    moveTo(changedAt + hourMs);
    await run({ kind: 'changes' });
    const [suffix, day] = ['.changes-010000', '2026-01-04'];
    expect(readTable(folder, 'purchases', suffix, day)).toEqual([
      expect.objectContaining({ purchaseId: 'store_a:owned', seq: changedAt + hourMs, entitledUsers: [companion] }),
    ]);
    // The former owner, too.
    expect(readTable(folder, 'customers', suffix, day)).toHaveLength(2);
  });

  it.each<[string, Lose]>([
    ['a merge', async (service, app) => await mergeCustomers(service, app, { from: 'guest', to: 'ann', key })],
    [
      'a manual link',
      async (service, { name }) => await recordPurchase(service, name, id, buildLinkInput('ann', lostAt)),
    ],
    [
      'a later claim',
      async (service, { name }) =>
        await recordObservation(service, name, {
          username: 'ann',
          observation: guestPurchase,
          strategy: 'last',
          now: lostAt,
        }),
    ],
    [
      'the erasure of another customer',
      async (service, app) =>
        await eraseCustomer(service, { ...app, strategy: 'first' }, 'zoe', { wait: async () => {} }),
    ],
  ])('exports the loss of the only purchase by %s', async (_title, lose) => {
    const { folder, app, run, moveTo, service } = await givenExport();
    for (const username of ['bob', 'guest', 'zoe'])
      await recordObservation(service, app.name, { username, observation: guestPurchase });
    await run();
    moveTo(lostAt);
    await lose(service, app);
    await rebuildCustomerSummary(service, { appName: app.name, username: 'guest' });
    moveTo(lostAt + hourMs);
    await run({ kind: 'changes' });
    const [suffix, day] = ['.changes-010000', '2026-01-04'];
    const isGuest = (row: { applicationUsername: string }) => row.applicationUsername === 'guest';
    const [customer] = readTable(folder, 'customers', suffix, day).filter(isGuest);
    expect(customer).toMatchObject({ activeSubscriber: false });
    expect(customer).not.toHaveProperty('lastPurchaseId');
    expect(readTable(folder, 'entitlements', suffix, day).filter(isGuest)).toEqual([
      expect.objectContaining({ seq: lostAt + hourMs, entitlement: 'premium', isActive: false }),
    ]);
  });

  it('rejects changes without a full export, and the target of a different app', async () => {
    const [{ run, folder }, other] = [await givenExport(), await givenExport()];
    await expect(run({ kind: 'changes' })).rejects.toMatchObject({ code: 'ResourceNotFound' });
    await run();
    await expect(other.run({}, createFolderTarget(folder))).rejects.toMatchObject({ code: 'Conflict' });
  });

  it('continues an interrupted export after its last complete part, without partial files', async () => {
    const { folder, run, moveTo } = await givenExport();
    const controller = new AbortController();
    const onProgress: ExportAppOptions['onProgress'] = (name) => {
      if (name === 'transactions') controller.abort();
    };
    await expect(run({ signal: controller.signal, onProgress })).rejects.toThrow('aborted');
    moveTo(startDate + hourMs);
    const { files } = await run();
    expect(files.map(({ path }) => path)).toEqual([
      'dt=2026-01-01/customers.jsonl.gz',
      'dt=2026-01-01/entitlements.jsonl.gz',
      'dt=2026-01-01/credits.jsonl.gz',
    ]);
    const names = readdirSync(join(folder, 'dt=2026-01-01'));
    expect(names.sort()).toEqual(
      Object.keys(rowSchemas)
        .map((name) => `${name}.jsonl.gz`)
        .sort(),
    );
  });

  it.each([
    ['continues an export that takes more than a day', 2 * dayMs, 'dt=2026-01-01'],
    ['starts an export again that was interrupted a week ago', 8 * dayMs, 'dt=2026-01-09'],
  ])('%s', async (_title, delayMs, folderOfDay) => {
    const { run, moveTo } = await givenExport();
    const controller = new AbortController();
    const interrupted = run({ signal: controller.signal, onProgress: () => controller.abort() });
    await expect(interrupted).rejects.toThrow('aborted');
    moveTo(startDate + delayMs);
    const { files } = await run();
    expect(new Set(files.map(({ path }) => path.split('/')[0]))).toEqual(new Set([folderOfDay]));
  });

  it('writes a large table in parts, each of them once, although every run is interrupted', async () => {
    const { folder, run } = await givenExport();
    const whole = createFolder();
    await run({}, createFolderTarget(whole));
    const exportPart = async () => {
      const controller = new AbortController();
      const onProgress = () => controller.abort();
      return await run({ signal: controller.signal, onProgress, rowsPerPart: 2 }).catch(() => undefined);
    };
    let runs = 1;
    while (!(await exportPart())) runs += 1;
    const files = readdirSync(join(folder, 'dt=2026-01-01'));
    const purchases = files.filter((name) => name.startsWith('purchases'));
    expect(purchases).toEqual(expect.arrayContaining(['purchases.jsonl.gz', 'purchases.part-2.jsonl.gz']));
    expect(runs).toBeGreaterThan(purchases.length);
    for (const name of Object.keys(rowSchemas) as (keyof typeof rowSchemas)[]) {
      const parts = files.filter((file) => file.startsWith(`${name}.`));
      const rows = parts.flatMap((file) => readRows(folder, join('dt=2026-01-01', file)));
      expect(toSortedTexts(rows)).toEqual(toSortedTexts(readRows(whole, `dt=2026-01-01/${name}.jsonl.gz`)));
    }
    expect(await eraseFromExports(await createFolderTarget(folder), 'guest-of-the-first-day')).toBeGreaterThan(0);
  });

  it('repeats only the part that failed', async () => {
    const { folder, run } = await givenExport();
    const target = await createFolderTarget(folder);
    const opened: string[] = [];
    const failing = {
      ...target,
      async openFile(path: string) {
        opened.push(path);
        if (path.includes('transactions.part-2') && opened.filter((name) => name === path).length === 1)
          throw new Error('disk full');
        return await target.openFile(path);
      },
    };
    await expect(run({ rowsPerPart: 2 }, Promise.resolve(failing))).rejects.toThrow('disk full');
    const failedAt = opened.length;
    await run({ rowsPerPart: 2 }, Promise.resolve(failing));
    expect(opened.slice(failedAt, failedAt + 2)).toEqual([
      'dt=2026-01-01/purchases.part-2.jsonl.gz',
      'dt=2026-01-01/transactions.part-2.jsonl.gz',
    ]);
  });

  it('contains the amounts that a recount of the statistics adds up to', async () => {
    const { folder, app, run, service } = await givenExport();
    const observation = createObservation({ purchaseId: 'store_a:refunded', transactionId: 'store_a:refunded' });
    const payment = createTransaction(observation.purchase, {
      amountMicros: 9_990_000,
      currency: 'EUR',
      partialRefunds: [{ id: 'r1', date: startDate + dayMs, amountMicros: 2_000_000 }],
      refundedAt: startDate + 3 * dayMs,
    });
    const paid = { ...observation, transactions: [payment] };
    await recordObservation(service, app.name, { username: 'ann', observation: paid });
    await run();
    const differences = await recount(service, app.name, ['2025-12-01', '2026-01-31']);
    const recounted = differences.flatMap(({ period, product, recounted: counts }) =>
      product || period.length !== 10
        ? []
        : Object.entries(counts).flatMap(([name, micros]) =>
            /^[A-Z]{3}\.micros$/.test(name) ? [[`${period} ${name.slice(0, 3)}`, micros] as const] : [],
          ),
    );
    expect(recounted.length).toBeGreaterThan(2);
    expect(sumByDayAndCurrency(readTable(folder, 'transactions'))).toEqual(new Map(recounted));
  });
});

const toSortedTexts = (rows: readonly unknown[]): string[] => rows.map((row) => JSON.stringify(row)).sort();

/** Adds up payments and refunds as an analyst would. */
function sumByDayAndCurrency(rows: readonly ExportedTransaction[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const add = (date: string, currency: string | null, micros: number): void => {
    const key = `${date.slice(0, 10)} ${currency}`;
    if (micros !== 0) sums.set(key, (sums.get(key) ?? 0) + micros);
  };
  for (const { sandbox, purchaseDate, currency, amountMicros, refunds } of rows) {
    if (sandbox) continue;
    add(purchaseDate, currency, amountMicros ?? 0);
    for (const refund of refunds) add(refund.date, currency, -(refund.amountMicros ?? 0));
  }
  return sums;
}

describe('eraseFromExports', () => {
  it('removes a customer from all files and keeps the rows of the others', async () => {
    const { folder, run, username, companion } = await givenExport();
    await run();
    const before = readTable(folder, 'purchases');
    await writeFile(join(folder, 'notes.txt'), username);
    expect(await eraseFromExports(await createFolderTarget(folder), username)).toBe(4);
    for (const name of Object.keys(rowSchemas) as (keyof typeof rowSchemas)[])
      expect(JSON.stringify(readTable(folder, name))).not.toContain(username);
    expect(readTable(folder, 'purchases')).toHaveLength(before.length);
    expect(
      readTable(folder, 'customers')
        .map((row) => row.applicationUsername)
        .sort(),
    ).toEqual([companion, 'guest-of-the-first-day'].sort());
    expect(await eraseFromExports(await createFolderTarget(folder), username)).toBe(0);
  });
});
