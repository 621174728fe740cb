import { afterAll, beforeAll, expect, it, test } from '@jest/globals';
import { dayMs } from '../calendar.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { fetchSubscriptionStatus, monthEnd, nextMonthEnd, runHistory } from './random-histories.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

test.each([
  [{}, 14],
  [{ period: 'P3D' }, 3],
])('extends the period by %j and starts the next period at its end', async (details, days) => {
  const { id, transaction } = await runHistory(client, [['extend', details]]);
  expect(transaction.expiresDate).toBe(monthEnd + days * dayMs);
  await client.act(id, 'renew');
  const renewed = await fetchSubscriptionStatus(client, id);
  expect(renewed.transaction.purchaseDate).toBe(monthEnd + days * dayMs);
  expect(renewed.transaction.expiresDate - renewed.transaction.purchaseDate).toBe(31 * dayMs);
});

it('applies a redeemed offer only to the next renewal', async () => {
  const { id, renewal, transaction } = await runHistory(client, [['redeem-offer', { priceMicros: 990_000 }]]);
  expect(transaction.offerType).toBeUndefined();
  expect(renewal).toMatchObject({ offerType: 3, offerIdentifier: 'thank-you', renewalPrice: 990 });
  await client.act(id, 'renew');
  const discounted = await fetchSubscriptionStatus(client, id);
  expect(discounted.transaction).toMatchObject({
    offerType: 3,
    offerIdentifier: 'thank-you',
    offerDiscountType: 'PAY_AS_YOU_GO',
    price: 990,
    expiresDate: nextMonthEnd,
  });
  expect(discounted.renewal).toMatchObject({ renewalPrice: 4990 });
  await client.act(id, 'renew');
  const usual = await fetchSubscriptionStatus(client, id);
  expect(usual.transaction.price).toBe(4990);
  expect(usual.transaction.offerType).toBeUndefined();
});

it('restores the rest of the period after a reversed refund', async () => {
  const { status, transaction, renewal } = await runHistory(client, [['refund'], ['reverse-refund']]);
  expect({ status, autoRenewStatus: renewal.autoRenewStatus }).toEqual({ status: 1, autoRenewStatus: 0 });
  expect(transaction.expiresDate).toBe(monthEnd);
  expect(transaction.revocationDate).toBeUndefined();
});

it('keeps a subscription expired if a refund is reversed after its period', async () => {
  const { status } = await runHistory(client, [['refund'], 'P2M', ['reverse-refund']]);
  expect(status).toBe(2);
});

it('does not change the purchase for a refund request', async () => {
  const { status, transaction } = await runHistory(client, [['request-refund'], ['decline-refund']]);
  expect({ status, expiresDate: transaction.expiresDate }).toEqual({ status: 1, expiresDate: monthEnd });
});

test.each([
  ['extend', 'cancel', 'expire'],
  ['redeem-offer', 'cancel'],
  ['reverse-refund', 'renew'],
  ['reverse-refund', 'revoke'],
  ['request-refund', 'refund'],
])('rejects %s after %s', async (action, ...previous) => {
  const { id } = await runHistory(
    client,
    previous.map((step) => [step] as const),
  );
  expect(await client.act(id, action)).toMatchObject({ status: 422 });
  expect(client.clock.now()).toBe(startTime);
});
