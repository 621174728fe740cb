import { describe, expect, it } from '@jest/globals';
import { listApps, runForApps } from '../../../lib/apps/app-list-table.ts';
import { setExportSchedule } from '../../../lib/export/export-schedule-table.ts';
import { runScheduledExports } from '../../../lib/export/run-scheduled-exports.ts';
import { appKey } from '../../../lib/foundation/keys.ts';
import { minuteMs } from '../../../lib/foundation/time.ts';
import { diagnoseService } from '../../../lib/health/diagnose-service.ts';
import { sendAlerts } from '../../../lib/problems/send-alerts.ts';
import { setAlertUrl } from '../../../lib/problems/set-alert-url.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { createTestTable } from '../../../testing/table.ts';

const problem = 'strategy: expected "all" or "first" or "last" or "last-if-inactive".';
const failure = { code: 'DatabaseError', message: `The app damaged is not readable: ${problem}` };

/** The items of two apps, and a damaged one between them in the order of names. */
async function givenDamagedApp() {
  const table = await createTestTable(createUniqueName('apps'));
  for (const name of ['app-1', 'damaged', 'else']) await givenApp(table, name);
  const posted: string[] = [];
  const service = createService(table, {
    // On a busy machine, reads are slow.
    emulator: { roots: [], timeFactor: 20 },
    postWebhook: async ({ url }) => {
      posted.push(url);
      return { status: 200, bodyExcerpt: 'ok' };
    },
  });
  for (const name of ['app-1', 'damaged', 'else']) await setAlertUrl(service, name, `https://alerts.example/${name}`);
  await table.batchPut([{ ...(await table.get(appKey('damaged'))), strategy: 7 }]);
  return { service, posted };
}

const getNames = (apps: readonly { name: string }[]) => apps.map(({ name }) => name);

describe('a damaged app', () => {
  it('is named by the list of apps, with the reason', async () => {
    const { apps, failed } = await listApps((await givenDamagedApp()).service);
    expect({ names: getNames(apps), failed }).toEqual({
      names: ['app-1', 'else'],
      failed: [{ item: 'damaged', problem }],
    });
  });

  it('fails a run over all apps after the others', async () => {
    const { service } = await givenDamagedApp();
    const processed: string[] = [];
    const run = runForApps(service, async (apps) => void processed.push(...getNames(apps)));
    await expect(run).rejects.toMatchObject(failure);
    expect(processed).toEqual(['app-1', 'else']);
  });

  it('fails the run of the alerts after those of the other apps', async () => {
    const { service, posted } = await givenDamagedApp();
    await expect(sendAlerts(service)).rejects.toMatchObject(failure);
    expect(posted.sort()).toEqual(['https://alerts.example/app-1', 'https://alerts.example/else']);
  });

  it('fails the run of the exports after those of the other apps', async () => {
    const { service } = await givenDamagedApp();
    await setExportSchedule(service, 'else', { location: 's3://exports/else', createdAt: startDate });
    const opened: string[] = [];
    const run = runScheduledExports(
      service,
      () => 15 * minuteMs,
      async (location) => {
        opened.push(location);
        throw new Error('The test has no bucket.');
      },
    );
    await expect(run).rejects.toThrow();
    expect(opened).toEqual(['s3://exports/else']);
  });

  it('is a finding of doctor, which checks the other apps', async () => {
    const { service } = await givenDamagedApp();
    const options = { baseUrl: 'https://api.example', timeoutMs: minuteMs };
    const { findings, checks } = await diagnoseService(service, options);
    const unreadable = {
      code: 'app-unreadable',
      severity: 'error',
      app: 'damaged',
      problem: `The stored app damaged is not readable: ${problem}`,
      cure: expect.stringContaining('APP#damaged'),
    };
    expect(findings.filter(({ app }) => app === 'damaged')).toEqual([unreadable]);
    expect(checks.find(({ name }) => name === 'exchange rates')).not.toMatchObject({ result: 'skipped' });
    expect(findings.filter(({ code }) => code === 'stores-missing')).toMatchObject([{ app: 'app-1' }, { app: 'else' }]);
    const { findings: ofDamaged } = await diagnoseService(service, { ...options, appName: 'damaged' });
    expect(ofDamaged).toContainEqual(unreadable);
    const { findings: ofOther } = await diagnoseService(service, { ...options, appName: 'else' });
    expect(ofOther).not.toContainEqual(unreadable);
  });
});
