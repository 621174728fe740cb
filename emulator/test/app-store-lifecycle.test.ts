import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { dayMs } from '../calendar.ts';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import {
  fetchSubscriptionStatus,
  monthEnd,
  nextMonthEnd,
  runHistory,
  runSteps,
  type Step,
} from './random-histories.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

const active = { status: 1, renewal: { autoRenewStatus: 1 } };

describe('subscription of the App Store', () => {
  test.each<[string, readonly Step[], object, readonly string[]]>([
    ['is active after the purchase', [], { ...active, transaction: { expiresDate: monthEnd } }, []],
    [
      'renews at the end of its period',
      [['renew']],
      { ...active, transaction: { purchaseDate: monthEnd, expiresDate: nextMonthEnd, transactionReason: 'RENEWAL' } },
      ['DID_RENEW'],
    ],
    [
      'stays active after a cancellation',
      [['cancel']],
      { status: 1, renewal: { autoRenewStatus: 0 }, transaction: { expiresDate: monthEnd } },
      ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED'],
    ],
    [
      'renews again after the cancellation is reverted',
      [['cancel'], ['uncancel']],
      active,
      ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED'],
    ],
    [
      'has a grace period of 16 days after a failed payment',
      [['fail-payment']],
      { status: 4, renewal: { gracePeriodExpiresDate: monthEnd + 16 * dayMs, autoRenewStatus: 1 } },
      ['DID_FAIL_TO_RENEW/GRACE_PERIOD'],
    ],
    [
      'has the grace period that the developer chooses',
      [['fail-payment', { period: 'P3D' }]],
      { status: 4, renewal: { gracePeriodExpiresDate: monthEnd + 3 * dayMs, autoRenewStatus: 1 } },
      ['DID_FAIL_TO_RENEW/GRACE_PERIOD'],
    ],
    [
      'has a grace period if the payment fails after the period',
      ['P1M', ['fail-payment']],
      { status: 4, renewal: { gracePeriodExpiresDate: monthEnd + 16 * dayMs, isInBillingRetryPeriod: false } },
      ['DID_FAIL_TO_RENEW/GRACE_PERIOD'],
    ],
    [
      'loses access after a second failed payment',
      [['fail-payment'], ['fail-payment']],
      { status: 3, renewal: { isInBillingRetryPeriod: true, expirationIntent: 2, gracePeriodExpiresDate: startTime } },
      ['GRACE_PERIOD_EXPIRED'],
    ],
    [
      'loses access immediately without a grace period',
      [['fail-payment', { grace: false }]],
      { status: 3, renewal: { isInBillingRetryPeriod: true } },
      ['DID_FAIL_TO_RENEW'],
    ],
    [
      'continues without a gap after a recovery in the grace period',
      ['P1M', ['fail-payment'], 'P3D', ['recover']],
      { ...active, transaction: { purchaseDate: monthEnd, expiresDate: nextMonthEnd } },
      ['DID_RENEW/BILLING_RECOVERY'],
    ],
    [
      'starts a new period after a recovery in billing retry',
      ['P1M', ['fail-payment'], 'P20D', ['recover']],
      { ...active, transaction: { purchaseDate: monthEnd + 20 * dayMs, transactionReason: 'RENEWAL' } },
      ['DID_RENEW/BILLING_RECOVERY'],
    ],
    [
      'expires as voluntary after a cancellation',
      [['cancel'], ['expire']],
      { status: 2, renewal: { expirationIntent: 1, autoRenewStatus: 0 }, transaction: { expiresDate: startTime } },
      ['EXPIRED/VOLUNTARY'],
    ],
    [
      'expires as a billing error after a failed payment',
      [['fail-payment'], ['expire']],
      { status: 2, renewal: { expirationIntent: 2, isInBillingRetryPeriod: false } },
      ['EXPIRED/BILLING_RETRY'],
    ],
    [
      'expires as a declined price increase without consent',
      [['raise-price'], ['expire']],
      { status: 2, renewal: { expirationIntent: 3, priceIncreaseStatus: 0 } },
      ['EXPIRED/PRICE_INCREASE'],
    ],
    [
      'expires for an unknown reason without a renewal',
      [['expire']],
      { status: 2, renewal: { expirationIntent: 5, autoRenewStatus: 0 } },
      ['EXPIRED'],
    ],
    [
      'ends immediately if it is canceled in billing retry',
      [['fail-payment'], ['fail-payment'], ['cancel']],
      { status: 2, renewal: { expirationIntent: 1 } },
      ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED', 'EXPIRED/VOLUNTARY'],
    ],
    [
      'is active after a resubscription',
      ['P2M', ['renew']],
      { ...active, transaction: { transactionReason: 'PURCHASE', purchaseDate: nextMonthEnd } },
      ['SUBSCRIBED/RESUBSCRIBE'],
    ],
    [
      'is revoked by a refund',
      ['P1D', ['refund']],
      {
        status: 5,
        renewal: { autoRenewStatus: 0 },
        transaction: {
          expiresDate: monthEnd,
          revocationDate: startTime + dayMs,
          revocationReason: 0,
          revocationType: 'REFUND_FULL',
          revocationPercentage: 100_000,
        },
      },
      ['REFUND', 'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED'],
    ],
    [
      'is revoked by a prorated refund of the unused time',
      ['P7D', ['refund', { prorated: true }]],
      {
        status: 5,
        transaction: {
          revocationDate: startTime + 7 * dayMs,
          revocationType: 'REFUND_PRORATED',
          revocationPercentage: 75_000,
        },
      },
      ['REFUND', 'DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED'],
    ],
    [
      'is revoked without a refund',
      [['revoke']],
      { status: 5, transaction: { revocationDate: startTime, revocationReason: 0 } },
      ['REVOKE'],
    ],
    [
      'has a pending price increase',
      [['raise-price', { priceMicros: 6_990_000 }]],
      { status: 1, renewal: { priceIncreaseStatus: 0, renewalPrice: 6990 }, transaction: { price: 4990 } },
      ['PRICE_INCREASE/PENDING'],
    ],
    [
      'renews at the higher price after consent',
      [['raise-price', { priceMicros: 6_990_000 }], ['accept-price'], ['renew']],
      { status: 1, renewal: { renewalPrice: 6990 }, transaction: { price: 6990 } },
      ['DID_RENEW'],
    ],
  ])('%s', async (_name, steps, expected, notifications) => {
    const now = await runHistory(client, steps);
    expect(now).toMatchObject(expected);
    expect(now.notifications).toEqual(notifications);
  });

  it('ends completely if it was renewed in advance', async () => {
    const { status, transaction } = await runHistory(client, [['renew'], ['renew'], 'P1D', ['expire']]);
    expect({ status, ...transaction }).toMatchObject({
      status: 2,
      purchaseDate: startTime + dayMs,
      expiresDate: startTime + dayMs,
    });
  });

  it('keeps its original transaction id', async () => {
    const { id, transaction } = await runHistory(client, [['renew'], ['expire'], ['renew']]);
    expect(transaction.originalTransactionId).toBe(id);
    expect(transaction.transactionId).not.toBe(id);
    expect(transaction.originalPurchaseDate).toBe(startTime);
  });

  it('stays active if an old transaction is refunded', async () => {
    const { id } = await runHistory(client, [['renew']]);
    await client.act(id, 'refund', { transactionId: id });
    expect(await fetchSubscriptionStatus(client, id)).toMatchObject(active);
    expect(
      decodePayload((await client.callServerApi(`/inApps/v1/transactions/${id}`)).body.signedTransactionInfo)
        .revocationDate,
    ).toBe(startTime);
  });

  it('returns the payment of a revoked purchase', async () => {
    const { id } = await runHistory(client, [['revoke']]);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    expect(body).toMatchObject({ state: 'REVOKED', paidMicros: 4_990_000, refundedMicros: 4_990_000 });
  });

  it('starts a new series of periods after a gap of 60 days', async () => {
    expect((await runHistory(client, ['P1M', 'P59D', ['renew']])).renewal.recentSubscriptionStartDate).toBe(startTime);
    const late = monthEnd + 61 * dayMs;
    expect((await runHistory(client, ['P1M', 'P61D', ['renew']])).renewal.recentSubscriptionStartDate).toBe(late);
  });
});

test.each<[string, readonly Step[], string]>([
  ['a renewal of a canceled subscription', [['cancel']], 'renew'],
  ['a second cancellation', [['cancel']], 'cancel'],
  ['uncancel without a cancellation', [], 'uncancel'],
  ['a recovery without a failed payment', [], 'recover'],
  ['a second expiration', [['expire']], 'expire'],
  ['a second refund', [['refund']], 'refund'],
  ['acceptance without a price increase', [], 'accept-price'],
  ['a renewal before a price increase is accepted', [['raise-price']], 'renew'],
  ['a plan change of an expired subscription', [['expire']], 'change-plan'],
  ['a failed payment without a due payment', [['cancel']], 'fail-payment'],
])('rejects %s', async (_name, steps, action) => {
  const { id, status } = await runHistory(client, steps);
  const refused = await client.act(id, action, action === 'change-plan' ? { productId: 'gold' } : {});
  expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining(id) } });
  expect((await fetchSubscriptionStatus(client, id)).status).toBe(status);
});

describe('commitment plan (App Store)', () => {
  const months = (count: number): Step[] => Array.from({ length: count }, () => 'P31D');
  const order = { commitment: true, autoRenew: true };
  const retryDays = (days: number): Step[] => ['P1M', ['fail-payment'], `P${days}D`];

  it('is billed until the twelfth period after a cancelation, and expires then', async () => {
    const { id, renewal } = await runHistory(client, ['P1M', ['cancel']], order);
    expect(renewal).toMatchObject({ autoRenewStatus: 1, commitmentInfo: { commitmentAutoRenewStatus: 0 } });
    await runSteps(client, id, months(10));
    const last = await fetchSubscriptionStatus(client, id);
    expect(last).toMatchObject({
      status: 1,
      transaction: { billingPlanType: 'MONTHLY', commitmentInfo: { billingPeriodNumber: 12 } },
      renewal: { autoRenewStatus: 0 },
    });
    expect(last.transaction.commitmentInfo.commitmentExpiresDate).toBe(last.transaction.expiresDate);
    await runSteps(client, id, ['P1M']);
    expect(await fetchSubscriptionStatus(client, id)).toMatchObject({ status: 2, renewal: { expirationIntent: 1 } });
  });

  it('starts a new commitment after the twelfth period', async () => {
    const { transaction } = await runHistory(client, months(12), order);
    expect(transaction.commitmentInfo).toMatchObject({ billingPeriodNumber: 1, totalBillingPeriods: 12 });
  });

  it('starts a new commitment that renews if it is bought again after a cancelation', async () => {
    const { transaction, renewal } = await runHistory(client, ['P1M', ['cancel'], ...months(12), ['renew']], order);
    expect(transaction.commitmentInfo).toMatchObject({ billingPeriodNumber: 1, totalBillingPeriods: 12 });
    expect(renewal).toMatchObject({ autoRenewStatus: 1, commitmentInfo: { commitmentAutoRenewStatus: 1 } });
  });

  it('has no grace period and is retried for 90 days, and a recovery moves its end', async () => {
    const commitment = { commitment: true };
    expect((await runHistory(client, retryDays(85), commitment)).status).toBe(3);
    expect((await runHistory(client, retryDays(91), commitment)).status).toBe(2);
    const before = (await runHistory(client, [], commitment)).transaction.commitmentInfo.commitmentExpiresDate;
    const { transaction } = await runHistory(client, [...retryDays(20), ['recover']], commitment);
    expect(transaction.commitmentInfo.commitmentExpiresDate).toBeGreaterThan(before);
  });
});
