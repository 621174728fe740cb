import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { dayMs, fetchSubscriptionStatus, monthEnd, runHistory, type Step } from './random-histories.ts';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

describe('a first period', () => {
  it('can be a free trial before the full price', async () => {
    const { id, transaction } = await runHistory(user, [], { trial: 'P1W' });
    expect(transaction).toMatchObject({
      price: 0,
      offerType: 1,
      offerDiscountType: 'FREE_TRIAL',
      offerPeriod: 'P1W',
      expiresDate: startTime + 7 * dayMs,
    });
    await user.act(id, 'renew');
    const paid = (await fetchSubscriptionStatus(user, id)).transaction;
    expect(paid).toMatchObject({ price: 4990, purchaseDate: startTime + 7 * dayMs });
    expect(paid).not.toHaveProperty('offerType');
  });

  test.each([
    [{ intro: true }, { price: 2495, offerDiscountType: 'PAY_AS_YOU_GO', expiresDate: monthEnd }],
    [{ intro: { priceMicros: 990_000 } }, { price: 990, offerDiscountType: 'PAY_AS_YOU_GO' }],
    [{ intro: { priceMicros: 5_990_000, period: 'P3M' } }, { price: 5990, offerDiscountType: 'PAY_UP_FRONT' }],
  ])('can have a price of its own: %j', async (order, expected) => {
    expect((await runHistory(user, [], order)).transaction).toMatchObject({ offerType: 1, ...expected });
  });

  it('is offered once in a subscription group', async () => {
    const { id } = await runHistory(user, [['expire']], { trial: true, applicationUsername: 'once' });
    expect(await user.buy({ trial: true, applicationUsername: 'once' })).toMatchObject({ status: 422 });
    expect((await user.buy({ applicationUsername: 'once' })).body.id).toBe(id);
  });
});

it('a subscription that is bought again costs what it is bought for then, whatever price was agreed before', async () => {
  const agreed: readonly Step[] = [['raise-price', { priceMicros: 8_990_000 }], ['accept-price'], ['expire']];
  const { id } = await runHistory(user, agreed, { applicationUsername: 'returning' });
  await user.buy({ applicationUsername: 'returning', priceMicros: 3_990_000 });
  const { transaction, renewal } = await fetchSubscriptionStatus(user, id);
  expect({ price: transaction.price, renewalPrice: renewal.renewalPrice }).toEqual({ price: 3990, renewalPrice: 3990 });
});

describe('a change of plan', () => {
  it('to a dearer product happens at once', async () => {
    const { id, transaction, renewal, notifications } = await runHistory(user, [
      'P10D',
      ['change-plan', { productId: 'gold', priceMicros: 9_990_000 }],
    ]);
    expect(notifications).toEqual(['DID_CHANGE_RENEWAL_PREF/UPGRADE']);
    expect(transaction).toMatchObject({ productId: 'gold', price: 9990, purchaseDate: startTime + 10 * dayMs });
    expect(transaction.originalTransactionId).toBe(id);
    expect(renewal).toMatchObject({ autoRenewProductId: 'gold', productId: 'gold' });
    const { body } = await user.callServerApi(`/inApps/v1/transactions/${id}`);
    expect(decodePayload(body.signedTransactionInfo)).toMatchObject({
      isUpgraded: true,
      expiresDate: startTime + 10 * dayMs,
    });
  });

  it('to a cheaper one waits for the renewal', async () => {
    const { id, transaction, renewal, notifications } = await runHistory(user, [
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
    await user.act(id, 'renew');
    expect((await fetchSubscriptionStatus(user, id)).transaction).toMatchObject({ productId: 'tin', price: 990 });
  });

  it('can be taken back before the renewal', async () => {
    const { notifications, renewal } = await runHistory(user, [
      ['change-plan', { productId: 'tin', priceMicros: 990_000 }],
      ['change-plan', { productId: 'monthly' }],
    ]);
    expect(notifications).toEqual(['DID_CHANGE_RENEWAL_PREF']);
    expect(renewal).toMatchObject({ autoRenewProductId: 'monthly', renewalPrice: 4990 });
  });

  it('stays within the subscription group', async () => {
    await user.buy({ productId: 'elsewhere', group: 'another' });
    const { id } = await runHistory(user, []);
    expect(await user.act(id, 'change-plan', { productId: 'elsewhere' })).toMatchObject({ status: 422 });
  });
});

describe('a store account', () => {
  it('has one active subscription in a group', async () => {
    await runHistory(user, [], { applicationUsername: 'single' });
    expect(await user.buy({ applicationUsername: 'single' })).toMatchObject({ status: 422 });
  });

  it('owns a non consumable once', async () => {
    const book = { productId: 'book', type: 'non consumable', applicationUsername: 'reader' };
    const { body } = await user.buy(book);
    expect(await user.buy(book)).toMatchObject({ status: 422 });
    await user.act(body.id, 'refund');
    expect(await user.buy(book)).toMatchObject({ status: 200 });
  });

  it('is somebody else for everyone without a name', async () => {
    const { body } = await user.buy();
    await user.buy();
    const { signedTransactions } = (await user.callServerApi(`/inApps/v2/history/${body.id}`)).body;
    expect(signedTransactions).toHaveLength(1);
  });
});
