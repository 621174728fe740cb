import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFolderTarget } from '../../cli/export/folder-target.ts';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { exportApp } from '../../lib/export/export-app.ts';
import { dayMs } from '../../lib/shared/time.ts';
import { readSnippet } from '../../testing/documents.ts';
import { createExportDeps } from '../../testing/export-deps.ts';
import { createObservation, createTransaction, givenApp, startDate } from '../../testing/given.ts';
import { buildValidationInput } from '../../testing/purchase-repository.ts';
import { createTestTable } from '../../testing/table.ts';

const page = 'docs/guides/export-data.md';
const installedPython = resolve('.ci/.duckdb/bin/python');
const python = [installedPython, 'python3'].find((command) => spawnSync(command, ['-c', 'import duckdb']).status === 0);

/** Runs the statements of standard input and prints the rows of the last one as JSON. */
const runQuery =
  'import duckdb, json, sys; print(json.dumps(duckdb.connect().execute(sys.stdin.read()).fetchall(), default=str))';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-query-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

(python ? describe : describe.skip)('the query of the export', () => {
  it('adds up each payment once, however many files have it', async () => {
    const table = await createTestTable();
    const deps = createExportDeps(table);
    const app = await getApp(deps.apps, (await givenApp(table)).appName);
    const target = await createFolderTarget(join(folder, 'exports/my-app'));
    const observation = createObservation();
    const renewal = createTransaction(observation.purchase, {
      transactionId: 'store_a:2',
      purchaseDate: startDate + 31 * dayMs,
    });
    await deps.recordPurchase(app.name, 'store_a:1', buildValidationInput('ann', observation));
    await exportApp(app, target, deps, { kind: 'full' });
    const renewedAt = startDate + 31 * dayMs;
    deps.moveTo(renewedAt);
    const renewed = { ...observation, asOf: renewedAt, transactions: [...observation.transactions, renewal] };
    await deps.recordPurchase(app.name, 'store_a:1', { ...buildValidationInput('ann', renewed), now: renewedAt });
    await exportApp(app, target, deps, { kind: 'changes' });

    const { stdout, stderr } = spawnSync(python ?? '', ['-c', runQuery], {
      cwd: folder,
      input: readSnippet(page, 'export'),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([
      ['2026-01', 'store_a:monthly', 4.99],
      ['2026-02', 'store_a:monthly', 4.99],
    ]);
  });
});
