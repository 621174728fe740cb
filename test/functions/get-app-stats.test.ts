import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Table } from '../../lib/foundation/table.ts';
import { getAppStats } from '../../lib/statistics/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenStats } from './stats-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

describe('GET /v3/apps/:appName/stats', () => {
  it("returns the counts of this month and the last month for the key's own app", async () => {
    const keys = await givenStats();
    const { body } = await callWithSecretKey(getAppStats, keys, { params: { appName: keys.appName } });
    expect(body).toMatchObject({ thisMonth: expect.any(Number), reqLastMonth: expect.any(Number) });
  });

  it('rejects an app name that does not exist', async () => {
    const { body } = await callWithSecretKey(getAppStats, await givenApp(table), { params: { appName: 'another' } });
    expect(body).toMatchObject({ status: 403, code: 'Forbidden' });
  });

  it("rejects another app's name", async () => {
    const [keys, otherApp] = [await givenApp(table), await givenApp(table)];
    const ownStats = await callWithSecretKey(getAppStats, keys, { params: { appName: keys.appName } });
    const otherStats = await callWithSecretKey(getAppStats, keys, { params: { appName: otherApp.appName } });
    expect([ownStats.status, otherStats.status]).toEqual([200, 403]);
  });
});
