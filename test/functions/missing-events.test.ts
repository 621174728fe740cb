import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { getEvent, getEventAnalysis, getEventRaw } from '../../lib/events/contract.ts';
import { eventKey } from '../../lib/foundation/keys.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenEvent } from './event-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

describe.each([getEvent, getEventAnalysis, getEventRaw])('GET $path', (contract) => {
  it('rejects an unknown id with ResourceNotFound', async () => {
    const response = await callWithSecretKey(contract, await givenApp(table), { params: { id: randomUUID() } });
    expect(response).toMatchObject({ status: 404, body: { code: 'ResourceNotFound' } });
  });

  it("does not return another app's event", async () => {
    const [owner, otherApp] = [await givenApp(table), await givenApp(table)];
    const id = await givenEvent(owner);
    expect((await callWithSecretKey(contract, otherApp, { params: { id } })).status).toBe(404);
  });

  it('does not return an event after its retention, even if the table still has it', async () => {
    const keys = await givenApp(table);
    const id = await givenEvent(keys, { date: Date.now() - 2 * dayMs, retentionDays: 1 });
    expect(await table.get(eventKey(keys.appName, id))).toMatchObject({ type: 'receipt.validated' });
    expect((await callWithSecretKey(contract, keys, { params: { id } })).status).toBe(404);
  });
});
