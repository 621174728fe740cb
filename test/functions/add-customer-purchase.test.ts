import { describe, expect, it } from '@jest/globals';
import { strategies } from '../../lib/apps/app.ts';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { addCustomerPurchase } from '../../lib/customers/claim-contract.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import { toItemImage } from '../../lib/purchases/purchase-item.ts';
import { findPurchase } from '../../lib/purchases/purchase-table.ts';
import { recordPurchase } from '../../lib/purchases/record-purchase.ts';
import { findMd5Alias } from '../../lib/purchases/user-alias-table.ts';
import { readPurchaseItem } from '../../lib/webhooks/purchase-announcements.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { buildLinkInput } from '../../testing/purchase-inputs.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase } from './purchase-fixture.ts';

const table = startBeforeAll(createTestTable);

const params = { applicationUsername: 'bob' };
const body = { purchaseId: 'store_a:1' };

describe('POST /v3/customers/:applicationUsername/purchases', () => {
  it('links the purchase and returns the purchases of the customer', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const response = await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    expect(response).toMatchObject({
      status: 200,
      body: { ok: true, applicationUsername: 'bob', purchases: { 'store_a:monthly': { purchaseId: 'store_a:1' } } },
    });
    const stored = await callWithSecretKey(getCustomerPurchases, keys, { params });
    expect(stored.body.purchases).toEqual(response.body.purchases);
  });

  it.each(strategies)('takes precedence over the claim of a validation (strategy %s)', async (strategy) => {
    const keys = await givenApp(table);
    await changeSettings(getService(), keys.appName, { strategy });
    await givenPaidPurchase(keys, 'ann');
    await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    const purchase = await findPurchase(getService(), keys.appName, 'store_a:1');
    expect(purchase?.entitledUsers).toEqual(['bob']);
  });

  it('accepts a brand purchase id', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const response = await callWithSecretKey(addCustomerPurchase, keys, { params, body: { purchaseId: 'apple:1' } });
    expect(response.body).toMatchObject({ ok: true, purchases: { 'store_a:monthly': { purchaseId: 'store_a:1' } } });
  });

  it("saves the store's alias for the customer", async () => {
    const keys = await givenApp(table);
    await givenPurchase(keys.appName, 'ann', createObservation({}, { userAliases: ['bob'] }));
    await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    expect(await findMd5Alias(getService(), keys.appName, 'bob', 1)).toMatchObject({ isSaved: true });
  });

  it('saves the alias of a purchase that an interrupted request has linked', async () => {
    const keys = await givenApp(table);
    await givenPurchase(keys.appName, 'ann', createObservation({}, { userAliases: ['bob'] }));
    await recordPurchase(getService(), keys.appName, body.purchaseId, buildLinkInput('bob', getService().now()));
    await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    expect(await findMd5Alias(getService(), keys.appName, 'bob', 1)).toMatchObject({ isSaved: true });
  });

  it('records the claim as an event of the customer and of the purchase', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    for (const tag of ['bob', 'store_a:1']) {
      expect(await findEvents(keys, tag)).toMatchObject([
        {
          context: { eventType: 'purchase.claimed', applicationUsername: 'bob' },
          content: { claims: [{ applicationUsername: 'bob', purchaseId: 'store_a:1', type: 'manual' }] },
        },
      ]);
    }
  });

  it('announces the link with the event of the request', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    const [event] = await findEvents(keys, 'bob');
    const item = await getService().table.get(purchaseKey(keys.appName, 'store_a:1'));
    expect(readPurchaseItem(keys.appName, toItemImage('purchase', item ?? {})).eventId).toBe(event?.eventId);
  });

  it('links a purchase once if the request is repeated', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const first = await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    const second = await callWithSecretKey(addCustomerPurchase, keys, { params, body });
    expect(second).toMatchObject({ status: 200, body: first.body });
    const purchase = await findPurchase(getService(), keys.appName, 'store_a:1');
    expect(purchase?.entitledUsers).toEqual(['bob']);
  });

  it.each([{}, { purchaseId: '' }, { purchaseId: 7 }])('rejects the body %j', async (invalidBody) => {
    const response = await callWithSecretKey(addCustomerPurchase, await givenApp(table), { params, body: invalidBody });
    expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });
});
