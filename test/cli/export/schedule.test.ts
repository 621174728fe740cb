import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { deleteApp, getApp } from '../../../lib/apps/manage-apps.ts';
import { findExportSchedule, leaseExport, setExportSchedule } from '../../../lib/export/export-schedule-table.ts';
import { findDueKind, runScheduledExports } from '../../../lib/export/run-scheduled-exports.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { createExportService } from '../../../testing/export-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { givenCustomer } from '../../../testing/given-customer.ts';
import { buildLinkInput } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';
import { useObjectServer } from '../../../testing/use-object-server.ts';

const getServer = useObjectServer();

const location = 's3://exports/app-1';

/** An app with the purchases of `givenCustomer` and a schedule, and its runs at a time of the test. */
async function givenSchedule() {
  // The runs export all apps of a table.
  const table = await createTestTable(createUniqueName('schedule'));
  const service = createExportService(table);
  const app = await getApp(service, (await givenApp(table)).appName);
  const [username, companion] = [createUniqueName('user'), createUniqueName('companion')];
  await givenCustomer(service, app, { username, alias: createUniqueName('alias'), companion });
  await setExportSchedule(service, app.name, { location, createdAt: startDate });
  const run = async (remainingMs = 15 * minuteMs) => await runScheduledExports(service, () => remainingMs);
  const find = async () => await findExportSchedule(service, app.name);
  return { app, service, run, find, companion };
}

const listFiles = (): string[] =>
  [...getServer().objects.keys()].filter((key) => key.endsWith('.gz')).map((key) => key.slice('exports/app-1/'.length));

describe('runScheduledExports', () => {
  it('does not export a deleted app', async () => {
    const { app, service, run } = await givenSchedule();
    await deleteApp(service, app.name, startDate);
    await run();
    expect(listFiles()).toEqual([]);
  });

  it('exports all rows once a day and the changes every hour, without a repetition within the hour', async () => {
    const { app, service, run, find, companion } = await givenSchedule();
    await run();
    expect(listFiles()).toHaveLength(5);
    expect(await find()).toEqual({ location, createdAt: startDate, fullAt: startDate, exportedAt: startDate });
    service.moveTo(startDate + 15 * minuteMs);
    await run();
    expect(listFiles()).toHaveLength(5);

    service.moveTo(startDate + hourMs);
    await recordPurchase(service, app.name, 'store_a:owned', buildLinkInput(companion, startDate + hourMs));
    await run();
    const changes = listFiles().filter((file) => file.includes('changes'));
    expect(changes).toContain('dt=2026-01-01/purchases.changes-010000.jsonl.gz');
    const content = getServer().objects.get('exports/app-1/dt=2026-01-01/purchases.changes-010000.jsonl.gz');
    expect(gunzipSync(content ?? '').toString()).toContain('store_a:owned');

    service.moveTo(startDate + dayMs);
    await run();
    expect(listFiles()).toContain('dt=2026-01-02/purchases.jsonl.gz');
    expect(await find()).toMatchObject({ fullAt: startDate + dayMs });
  });

  it('leaves an app to the run that has the lease, and continues after a crash', async () => {
    const { app, service, run } = await givenSchedule();
    const schedule = { location, createdAt: startDate };
    const until = startDate + 10 * minuteMs;
    expect(await leaseExport(service, app.name, schedule, { now: startDate, until })).toBe(true);
    await run();
    expect(listFiles()).toEqual([]);
    service.moveTo(startDate + 11 * minuteMs);
    await run();
    expect(listFiles()).toHaveLength(5);
  });

  it('stores why an export failed, and exports with the next run', async () => {
    const { run, find, service } = await givenSchedule();
    getServer().failures.push({ status: 403, code: 'AccessDenied' });
    await expect(run()).rejects.toMatchObject({ code: 'Forbidden' });
    expect(await find()).toEqual({ location, createdAt: startDate, failure: expect.stringContaining('AccessDenied') });
    service.moveTo(startDate + 15 * minuteMs);
    await run();
    expect(await find()).not.toHaveProperty('failure');
    expect(listFiles()).toHaveLength(5);
  });

  it('leaves the export to the next run if the time does not suffice', async () => {
    const { run, find } = await givenSchedule();
    await run(minuteMs);
    expect(listFiles()).toEqual([]);
    expect(await find()).toEqual({ location, createdAt: startDate });
  });
});

describe('findDueKind', () => {
  const schedule = { location, createdAt: startDate };

  it.each([
    ['full', {}, startDate],
    [undefined, { fullAt: startDate, exportedAt: startDate }, startDate + 45 * minuteMs],
    ['changes', { fullAt: startDate, exportedAt: startDate }, startDate + hourMs],
    ['full', { fullAt: startDate, exportedAt: startDate + 23 * hourMs }, startDate + dayMs],
  ])('returns %s for %j', (kind, times, now) => {
    expect(findDueKind({ ...schedule, ...times }, now)).toBe(kind);
  });
});
