import { describe, expect, it } from '@jest/globals';
import { findApp } from '../../../lib/apps/app-table.ts';
import { runCommand } from '../../../testing/command-line.ts';
import { createService } from '../../../testing/create-service.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

const allowed = 's3://exports/claimcheck';

/** Runs the command as an operator of a stack that allows a location. */
const schedule = async (...args: string[]) =>
  await runCommand({ STACK_OUTPUTS: JSON.stringify({ ExportLocations: allowed }), TABLE_NAME: table.name }, [
    '--table',
    table.name,
    '--master-key',
    'master-key',
    'export',
    'schedule',
    ...args,
  ]);

describe('export schedule', () => {
  it('sets, shows and ends the schedule of an app', async () => {
    const { appName } = await givenApp(table);
    const { out, code } = await schedule(appName, `${allowed}/${appName}/`);
    expect([code, out]).toEqual([0, expect.stringContaining(`${appName} is exported to ${allowed}/${appName}`)]);
    expect((await schedule(appName)).out).toContain('latest export  never');
    expect((await schedule(appName, '--off')).code).toBe(0);
    expect((await schedule(appName)).out).toContain('has no schedule');
    expect(await findApp(createService(table), appName)).toBeDefined();
  });

  it('rejects a location that the deployment does not allow', async () => {
    const { appName } = await givenApp(table);
    const { error, code } = await schedule(appName, 's3://exports/claimcheck-2');
    expect([code, error]).toEqual([1, expect.stringContaining('-c exportLocations=s3://exports/claimcheck-2')]);
  });

  it('rejects the location of a different app, and a location within it', async () => {
    const [{ appName }, other] = [await givenApp(table), await givenApp(table)];
    await schedule(appName, `${allowed}/${appName}`);
    const { error } = await schedule(other.appName, `${allowed}/${appName}/other`);
    expect(error).toContain('Each app needs its own location');
  });
});
