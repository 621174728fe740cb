import { mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { runCommand } from '../../../testing/command-line.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { givenCustomer } from '../../../testing/given-customer.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);
const folder = mkdtempSync(join(tmpdir(), 'claimcheck-export-'));
afterAll(async () => await rm(folder, { recursive: true }));

const listFiles = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.gz'));

describe('export', () => {
  it('exits with 130 after an interrupt, and continues with the next run', async () => {
    const service = createService(table);
    const app = await getApp(service, (await givenApp(table)).appName);
    const names = { username: createUniqueName('user'), companion: createUniqueName('companion') };
    await givenCustomer(service, app, { ...names, alias: createUniqueName('alias') });
    const exportNow = async () =>
      await runCommand({ TABLE_NAME: table.name }, [
        ...['--table', table.name, '--master-key', 'master-key'],
        ...['export', app.name, '--to', folder],
      ]);
    const listeners = process.listenerCount('SIGINT');
    const interrupted = exportNow();
    while (process.listenerCount('SIGINT') === listeners) await setImmediate();
    process.emit('SIGINT');
    expect((await interrupted).code).toBe(130);
    expect(listFiles()).toEqual([]);
    expect((await exportNow()).code).toBe(0);
    expect(listFiles()).toHaveLength(5);
  });
});
