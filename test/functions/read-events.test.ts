import { describe, expect, it } from '@jest/globals';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { getCustomer, getCustomerPurchases } from '../../lib/customers/contract.ts';
import { listEvents } from '../../lib/events/event-list-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { getPurchase, getRefreshToken } from '../../lib/purchases/contract.ts';
import { getTransaction } from '../../lib/purchases/transaction-contract.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { buildBasicAuth, callEndpoint, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase } from './purchase-fixture.ts';

const table = startBeforeAll(createTestTable);

const listTypes = async (appName: string): Promise<string[]> =>
  (await listEvents(getService(), appName, { limit: 10, skip: 0 })).map(({ type }) => type);

describe('events of reads', () => {
  it.each([
    [getCustomer, 'ann', '_A'],
    [getCustomerPurchases, 'ann', '_A'],
    [getPurchase, 'store_a:1', '_P'],
    [getRefreshToken, 'store_a:1', '_P'],
    [getTransaction, 'store_a:1', '_T'],
  ] as const)(
    'records a successful read by default, as an event of what was read: $path',
    async (contract, tag, type) => {
      const keys = await givenApp(table);
      await givenPaidPurchase(keys, 'ann');
      const params = { applicationUsername: tag, purchaseId: tag, transactionId: tag };
      expect(await callWithSecretKey(contract, keys, { params })).toMatchObject({ status: 200 });
      expect(await findEvents(keys, tag)).toMatchObject([{ tag, type, context: { eventType: contract.eventType } }]);
    },
  );

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
