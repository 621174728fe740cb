import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { dayMs } from '../calendar.ts';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { fetchSubscriptionStatus, monthEnd, runHistory, type Step } from './random-histories.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

describe('first period (App Store)', () => {
  it('starts with a free trial on request', async () => {
    const { id, transaction } = await runHistory(client, [], { trial: 'P1W' });
    expect(transaction).toMatchObject({
      price: 0,
      offerType: 1,
      offerDiscountType: 'FREE_TRIAL',
      offerPeriod: 'P1W',
      expiresDate: startTime + 7 * dayMs,
    });
    await client.act(id, 'renew');
    const paid = (await fetchSubscriptionStatus(client, id)).transaction;
    expect(paid).toMatchObject({ price: 4990, purchaseDate: startTime + 7 * dayMs });
    expect(paid).not.toHaveProperty('offerType');
  });

  test.each([
    [{ intro: true }, { price: 2495, offerDiscountType: 'PAY_AS_YOU_GO', expiresDate: monthEnd }],
    [{ intro: { priceMicros: 990_000 } }, { price: 990, offerDiscountType: 'PAY_AS_YOU_GO' }],
    [{ intro: { priceMicros: 5_990_000, period: 'P3M' } }, { price: 5990, offerDiscountType: 'PAY_UP_FRONT' }],
  ])('starts with an introductory price for %j', async (order, expected) => {
    expect((await runHistory(client, [], order)).transaction).toMatchObject({ offerType: 1, ...expected });
  });

  it('rejects a second offer in a subscription group', async () => {
    const { id } = await runHistory(client, [['expire']], { trial: true, applicationUsername: 'once' });
    expect(await client.buy({ trial: true, applicationUsername: 'once' })).toMatchObject({ status: 422 });
    expect((await client.buy({ applicationUsername: 'once' })).body.id).toBe(id);
  });
});

it('charges the price of the new order for a resubscription', async () => {
  const agreed: readonly Step[] = [['raise-price', { priceMicros: 8_990_000 }], ['accept-price'], ['expire']];
  const { id } = await runHistory(client, agreed, { applicationUsername: 'returning' });
  await client.buy({ applicationUsername: 'returning', priceMicros: 3_990_000 });
  const { transaction, renewal } = await fetchSubscriptionStatus(client, id);
  expect({ price: transaction.price, renewalPrice: renewal.renewalPrice }).toEqual({ price: 3990, renewalPrice: 3990 });
});

describe('change-plan (App Store)', () => {
  it('upgrades to a more expensive product immediately', async () => {
    const { id, transaction, renewal, notifications } = await runHistory(client, [
      'P10D',
      ['change-plan', { productId: 'gold', priceMicros: 9_990_000 }],
    ]);
    expect(notifications).toEqual(['DID_CHANGE_RENEWAL_PREF/UPGRADE']);
    expect(transaction).toMatchObject({ productId: 'gold', price: 9990, purchaseDate: startTime + 10 * dayMs });
    expect(transaction.originalTransactionId).toBe(id);
    expect(renewal).toMatchObject({ autoRenewProductId: 'gold', productId: 'gold' });
    const { body } = await client.callServerApi(`/inApps/v1/transactions/${id}`);
    expect(decodePayload(body.signedTransactionInfo)).toMatchObject({
      isUpgraded: true,
      expiresDate: startTime + 10 * dayMs,
    });
  });

  it('downgrades to a cheaper product at the renewal', async () => {
    const { id, transaction, renewal, notifications } = await runHistory(client, [
      ['cancel'],
      ['change-plan', { productId: 'tin', priceMicros: 990_000 }],
    ]);
    expect(notifications).toEqual(['DID_CHANGE_RENEWAL_PREF/DOWNGRADE']);
    expect(transaction.productId).toBe('monthly');
    expect(renewal).toMatchObject({
      productId: 'monthly',
      autoRenewProductId: 'tin',
      renewalPrice: 990,
      autoRenewStatus: 1,
    });
    await client.act(id, 'renew');
    expect((await fetchSubscriptionStatus(client, id)).transaction).toMatchObject({ productId: 'tin', price: 990 });
  });

  it('reverts a downgrade before the renewal', async () => {
    const { notifications, renewal } = await runHistory(client, [
      ['change-plan', { productId: 'tin', priceMicros: 990_000 }],
      ['change-plan', { productId: 'monthly' }],
    ]);
    expect(notifications).toEqual(['DID_CHANGE_RENEWAL_PREF']);
    expect(renewal).toMatchObject({ autoRenewProductId: 'monthly', renewalPrice: 4990 });
  });

  it('rejects a product outside the subscription group', async () => {
    await client.buy({ productId: 'elsewhere', group: 'another' });
    const { id } = await runHistory(client, []);
    expect(await client.act(id, 'change-plan', { productId: 'elsewhere' })).toMatchObject({ status: 422 });
  });
});

describe('account of the App Store', () => {
  it('allows one active subscription per group', async () => {
    await runHistory(client, [], { applicationUsername: 'single' });
    expect(await client.buy({ applicationUsername: 'single' })).toMatchObject({ status: 422 });
  });

  it('owns a non-consumable only once', async () => {
    const book = { productId: 'book', type: 'non consumable', applicationUsername: 'reader' };
    const { body } = await client.buy(book);
    expect(await client.buy(book)).toMatchObject({ status: 422 });
    await client.act(body.id, 'refund');
    expect(await client.buy(book)).toMatchObject({ status: 200 });
  });

  it('creates an account for each order without a username', async () => {
    const { body } = await client.buy();
    await client.buy();
    const { signedTransactions } = (await client.callServerApi(`/inApps/v2/history/${body.id}`)).body;
    expect(signedTransactions).toHaveLength(1);
  });
});
