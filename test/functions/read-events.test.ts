import { beforeAll, describe, expect, it } from '@jest/globals';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { listEvents } from '../../lib/events/event-table.ts';
import { getService } from '../../lib/foundation/container.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { buildBasicAuth, callEndpoint, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';

let table: Awaited<ReturnType<typeof createTestTable>>;
beforeAll(async () => {
  table = await createTestTable();
});

const listTypes = async (appName: string): Promise<string[]> =>
  (await listEvents(getService(), appName, { limit: 10, skip: 0 })).map(({ type }) => type);

describe('events of reads', () => {
  it('records a successful read by default', async () => {
    const keys = await givenApp(table);
    await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'ann' } });
    expect(await listTypes(keys.appName)).toEqual([getCustomerPurchases.eventType]);
  });

  it('does not record successful reads if the app switches them off, but failed reads and validations', async () => {
    const keys = await givenApp(table);
    await changeSettings(getService(), keys.appName, { recordsReads: false });
    const { status } = await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'ann' } });
    expect([status, await listTypes(keys.appName)]).toEqual([200, []]);

    await callWithSecretKey(getPurchase, keys, { params: { purchaseId: 'store_a:unknown' } });
    expect(await listTypes(keys.appName)).toEqual([getPurchase.eventType]);

    const headers = buildBasicAuth(keys.appName, keys.publicKey);
    await callEndpoint(validateReceipt, { headers, body: { id: 'x', type: 'application', transaction: {} } });
    expect((await listTypes(keys.appName)).sort()).toEqual([getPurchase.eventType, validateReceipt.eventType].sort());
  });

  it('records reads again after the app switches them on', async () => {
    const keys = await givenApp(table);
    await changeSettings(getService(), keys.appName, { recordsReads: false });
    await changeSettings(getService(), keys.appName, { recordsReads: true });
    await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'ann' } });
    expect(await listTypes(keys.appName)).toEqual([getCustomerPurchases.eventType]);
  });
});
