import { afterAll, beforeAll, expect, it, test } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { dayMs, fetchSubscriptionStatus, monthEnd, nextMonthEnd, runHistory } from './random-histories.ts';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

test.each([
  [{}, 14],
  [{ period: 'P3D' }, 3],
])('an extension by %j moves the end, and the next period starts there', async (details, days) => {
  const { id, transaction } = await runHistory(user, [['extend', details]]);
  expect(transaction.expiresDate).toBe(monthEnd + days * dayMs);
  await user.act(id, 'renew');
  const renewed = await fetchSubscriptionStatus(user, id);
  expect(renewed.transaction.purchaseDate).toBe(monthEnd + days * dayMs);
  expect(renewed.transaction.expiresDate - renewed.transaction.purchaseDate).toBe(31 * dayMs);
});

it('an offer that was redeemed applies to the next renewal and to no other', async () => {
  const { id, renewal, transaction } = await runHistory(user, [['redeem-offer', { priceMicros: 990_000 }]]);
  expect(transaction.offerType).toBeUndefined();
  expect(renewal).toMatchObject({ offerType: 3, offerIdentifier: 'thank-you', renewalPrice: 990 });
  await user.act(id, 'renew');
  const discounted = await fetchSubscriptionStatus(user, id);
  expect(discounted.transaction).toMatchObject({
    offerType: 3,
    offerIdentifier: 'thank-you',
    offerDiscountType: 'PAY_AS_YOU_GO',
    price: 990,
    expiresDate: nextMonthEnd,
  });
  expect(discounted.renewal).toMatchObject({ renewalPrice: 4990 });
  await user.act(id, 'renew');
  const usual = await fetchSubscriptionStatus(user, id);
  expect(usual.transaction.price).toBe(4990);
  expect(usual.transaction.offerType).toBeUndefined();
});

it('a refund that is taken back gives the rest of the period back', async () => {
  const { status, transaction, renewal } = await runHistory(user, [['refund'], ['reverse-refund']]);
  expect({ status, autoRenewStatus: renewal.autoRenewStatus }).toEqual({ status: 1, autoRenewStatus: 0 });
  expect(transaction.expiresDate).toBe(monthEnd);
  expect(transaction.revocationDate).toBeUndefined();
});

it('a refund that is taken back after the period leaves the subscription expired', async () => {
  const { status } = await runHistory(user, [['refund'], 'P2M', ['reverse-refund']]);
  expect(status).toBe(2);
});

it('asking for the money back changes nothing', async () => {
  const { status, transaction } = await runHistory(user, [['request-refund'], ['decline-refund']]);
  expect({ status, expiresDate: transaction.expiresDate }).toEqual({ status: 1, expiresDate: monthEnd });
});

test.each([
  ['extend', 'cancel', 'expire'],
  ['redeem-offer', 'cancel'],
  ['reverse-refund', 'renew'],
  ['reverse-refund', 'revoke'],
  ['request-refund', 'refund'],
])('%s is refused after %s', async (action, ...before) => {
  const { id } = await runHistory(
    user,
    before.map((one) => [one] as const),
  );
  expect(await user.act(id, action)).toMatchObject({ status: 422 });
  expect(user.clock.now()).toBe(startTime);
});
