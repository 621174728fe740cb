import { afterEach, describe, expect, it } from '@jest/globals';
import { type getCustomer, getCustomerPurchases, getCustomerTransactions } from '../../lib/customers/contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
const keys = startBeforeAll(async () => await service.createApp(['store_a']));
afterEach(async () => {
  await service.clearFaults();
});

let users = 0;
const newUser = () => `user-${++users}`;
const buy = async (applicationUsername: string, order: object = {}) =>
  await service.callControl('/purchases', {
    platform: 'store_a',
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername,
    ...order,
  });
const read = async (
  contract: typeof getCustomerPurchases | typeof getCustomer | typeof getCustomerTransactions,
  user: string,
) =>
  (
    await callEndpoint(contract, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params: { applicationUsername: user },
    })
  ).body;

describe('POST /v1/validate with the App Store', () => {
  it('turns a receipt into an entitlement that can be read back', async () => {
    const user = newUser();
    const { validate } = await buy(user);
    const { body } = await service.validate(keys, validate);
    expect(body).toMatchObject({
      ok: true,
      data: {
        id: 'com.example.app',
        latest_receipt: true,
        transaction: { type: validate.transaction.type },
        collection: [{ id: 'premium', isExpired: false, renewalIntent: 'Renew', quantity: 1 }],
      },
    });
    expect(body.data.date).toMatch(/\.\d{3}Z$/);
    const { purchases } = await read(getCustomerPurchases, user);
    expect(purchases['store_a:premium']).toMatchObject({
      isExpired: false,
      sandbox: false,
      currency: 'USD',
      amountMicros: 4_990_000,
      amountUSD: 4.99,
      renewalIntent: 'Renew',
    });
  });

  it('shows it expired when its time has passed, and two transactions of one purchase after a renewal', async () => {
    const user = newUser();
    const { id, validate } = await buy(user);
    await service.validate(keys, validate);
    await service.callControl('/clock', { advance: 'P1M1D' });
    const lapsed = await read(getCustomerPurchases, user);
    expect(lapsed.purchases['store_a:premium']).toMatchObject({ isExpired: true });
    const renewed = await service.callControl(`/purchases/${id}/renew`, {});
    expect((await service.validate(keys, renewed.validate)).body.ok).toBe(true);
    const { purchases } = await read(getCustomerPurchases, user);
    expect(purchases['store_a:premium']).toMatchObject({ isExpired: false });
    const { transactions } = await read(getCustomerTransactions, user);
    expect(new Set(transactions.map(({ purchaseId }: { purchaseId: string }) => purchaseId)).size).toBe(1);
    expect(transactions).toHaveLength(2);
  });

  it('validates classic receipts and application downloads', async () => {
    const receipt = await buy(newUser(), { form: 'receipt' });
    expect((await service.validate(keys, receipt.validate)).body).toMatchObject({
      ok: true,
      data: { id: 'com.example.app', collection: [{ id: 'premium', isExpired: false }] },
    });
    const download = await buy(newUser(), { form: 'download' });
    expect((await service.validate(keys, download.validate)).body).toMatchObject({ ok: true });
  });

  it('accepts signed evidence with a warning while the store is down, because the device may not send it again', async () => {
    const user = newUser();
    const { validate } = await buy(user);
    await service.callControl('/faults', { platform: 'store_a', fault: 'down', times: 20 });
    const { body } = await service.validate(keys, validate);
    expect(body).toMatchObject({ ok: true, data: { warning: expect.any(String), collection: [{ isExpired: false }] } });
    expect((await read(getCustomerPurchases, user)).purchases).toHaveProperty('store_a:premium');
  });
});
