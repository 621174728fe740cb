import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFolderTarget } from '../../cli/export/folder-target.ts';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { exportApp } from '../../lib/export/export-app.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { readSnippet } from '../../testing/documents.ts';
import { createExportService } from '../../testing/export-service.ts';
import { createObservation, createTransaction, startDate } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { recordObservation } from '../../testing/purchase-inputs.ts';
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
    const service = createExportService(table);
    const app = await getApp(service, (await givenApp(table)).appName);
    const target = await createFolderTarget(join(folder, 'exports/my-app'));
    const observation = createObservation();
    const renewal = createTransaction(observation.purchase, {
      transactionId: 'store_a:2',
      purchaseDate: startDate + 31 * dayMs,
    });
    await recordObservation(service, app.name, { username: 'ann', observation });
    await exportApp(service, app, target, { kind: 'full' });
    const renewedAt = startDate + 31 * dayMs;
    service.moveTo(renewedAt);
    const renewed = { ...observation, asOf: renewedAt, transactions: [...observation.transactions, renewal] };
    await recordObservation(service, app.name, { username: 'ann', observation: renewed, now: renewedAt });
    await exportApp(service, app, target, { kind: 'changes' });

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
