import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { dayMs, fetchSubscriptionStatus, monthEnd, nextMonthEnd, runHistory, type Step } from './random-histories.ts';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

const active = { status: 1, renewal: { autoRenewStatus: 1 } };

describe('a subscription', () => {
  test.each<[string, readonly Step[], object, readonly string[]]>([
    ['is active when bought', [], { ...active, transaction: { expiresDate: monthEnd } }, []],
    [
      'renews at the end of its period',
      [['renew']],
      { ...active, transaction: { purchaseDate: monthEnd, expiresDate: nextMonthEnd, transactionReason: 'RENEWAL' } },
      ['DID_RENEW'],
    ],
    [
      'stays active when cancelled',
      [['cancel']],
      { status: 1, renewal: { autoRenewStatus: 0 }, transaction: { expiresDate: monthEnd } },
      ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED'],
    ],
    [
      'renews again when the cancellation is taken back',
      [['cancel'], ['uncancel']],
      active,
      ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED'],
    ],
    [
      'has 16 days of grace when a payment fails',
      [['fail-payment']],
      { status: 4, renewal: { gracePeriodExpiresDate: monthEnd + 16 * dayMs, autoRenewStatus: 1 } },
      ['DID_FAIL_TO_RENEW/GRACE_PERIOD'],
    ],
    [
      'has grace also when the payment fails after the period',
      ['P1M', ['fail-payment']],
      { status: 4, renewal: { gracePeriodExpiresDate: monthEnd + 16 * dayMs, isInBillingRetryPeriod: false } },
      ['DID_FAIL_TO_RENEW/GRACE_PERIOD'],
    ],
    [
      'has no access when the payment fails again',
      [['fail-payment'], ['fail-payment']],
      { status: 3, renewal: { isInBillingRetryPeriod: true, expirationIntent: 2, gracePeriodExpiresDate: startTime } },
      ['GRACE_PERIOD_EXPIRED'],
    ],
    [
      'has no access at once where the application grants no grace',
      [['fail-payment', { grace: false }]],
      { status: 3, renewal: { isInBillingRetryPeriod: true } },
      ['DID_FAIL_TO_RENEW'],
    ],
    [
      'goes on without a gap when it recovers in grace',
      ['P1M', ['fail-payment'], 'P3D', ['recover']],
      { ...active, transaction: { purchaseDate: monthEnd, expiresDate: nextMonthEnd } },
      ['DID_RENEW/BILLING_RECOVERY'],
    ],
    [
      'starts a new period when it recovers after grace',
      ['P1M', ['fail-payment'], 'P20D', ['recover']],
      { ...active, transaction: { purchaseDate: monthEnd + 20 * dayMs, transactionReason: 'RENEWAL' } },
      ['DID_RENEW/BILLING_RECOVERY'],
    ],
    [
      'is expired by its customer when cancelled before',
      [['cancel'], ['expire']],
      { status: 2, renewal: { expirationIntent: 1, autoRenewStatus: 0 }, transaction: { expiresDate: startTime } },
      ['EXPIRED/VOLUNTARY'],
    ],
    [
      'is expired by billing when it expires while payments fail',
      [['fail-payment'], ['expire']],
      { status: 2, renewal: { expirationIntent: 2, isInBillingRetryPeriod: false } },
      ['EXPIRED/BILLING_RETRY'],
    ],
    [
      'is expired by its price when consent is missing',
      [['raise-price'], ['expire']],
      { status: 2, renewal: { expirationIntent: 3, priceIncreaseStatus: 0 } },
      ['EXPIRED/PRICE_INCREASE'],
    ],
    [
      'is expired for no known reason otherwise',
      [['expire']],
      { status: 2, renewal: { expirationIntent: 5, autoRenewStatus: 0 } },
      ['EXPIRED'],
    ],
    [
      'ends at once when cancelled while payments are retried',
      [['fail-payment'], ['fail-payment'], ['cancel']],
      { status: 2, renewal: { expirationIntent: 1 } },
      ['DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED', 'EXPIRED/VOLUNTARY'],
    ],
    [
      'is bought again after it expired',
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
      'is revoked without a refund',
      [['revoke']],
      { status: 5, transaction: { revocationDate: startTime, revocationReason: 0 } },
      ['REVOKE'],
    ],
    [
      'asks for consent to a higher price',
      [['raise-price', { priceMicros: 6_990_000 }]],
      { status: 1, renewal: { priceIncreaseStatus: 0, renewalPrice: 6990 }, transaction: { price: 4990 } },
      ['PRICE_INCREASE/PENDING'],
    ],
    [
      'costs more once that is accepted and it renews',
      [['raise-price', { priceMicros: 6_990_000 }], ['accept-price'], ['renew']],
      { status: 1, renewal: { renewalPrice: 6990 }, transaction: { price: 6990 } },
      ['DID_RENEW'],
    ],
  ])('%s', async (_name, steps, expected, notifications) => {
    const now = await runHistory(user, steps);
    expect(now).toMatchObject(expected);
    expect(now.notifications).toEqual(notifications);
  });

  it('that was paid ahead ends all the same, and nothing of it is in the future', async () => {
    const { status, transaction } = await runHistory(user, [['renew'], ['renew'], 'P1D', ['expire']]);
    expect({ status, ...transaction }).toMatchObject({
      status: 2,
      purchaseDate: startTime + dayMs,
      expiresDate: startTime + dayMs,
    });
  });

  it('keeps its original transaction id for life', async () => {
    const { id, transaction } = await runHistory(user, [['renew'], ['expire'], ['renew']]);
    expect(transaction.originalTransactionId).toBe(id);
    expect(transaction.transactionId).not.toBe(id);
    expect(transaction.originalPurchaseDate).toBe(startTime);
  });

  it('loses only the old transaction when an old one is refunded', async () => {
    const { id } = await runHistory(user, [['renew']]);
    await user.act(id, 'refund', { transactionId: id });
    expect(await fetchSubscriptionStatus(user, id)).toMatchObject(active);
    expect(
      decodePayload((await user.callServerApi(`/inApps/v1/transactions/${id}`)).body.signedTransactionInfo)
        .revocationDate,
    ).toBe(startTime);
  });

  it('starts a new run after 60 days without it', async () => {
    expect((await runHistory(user, ['P1M', 'P59D', ['renew']])).renewal.recentSubscriptionStartDate).toBe(startTime);
    const late = monthEnd + 61 * dayMs;
    expect((await runHistory(user, ['P1M', 'P61D', ['renew']])).renewal.recentSubscriptionStartDate).toBe(late);
  });
});

test.each<[string, readonly Step[], string]>([
  ['renew a cancelled subscription', [['cancel']], 'renew'],
  ['cancel twice', [['cancel']], 'cancel'],
  ['take back what was not cancelled', [], 'uncancel'],
  ['recover what did not fail', [], 'recover'],
  ['expire twice', [['expire']], 'expire'],
  ['refund twice', [['refund']], 'refund'],
  ['accept a price that nobody raised', [], 'accept-price'],
  ['renew before a higher price is accepted', [['raise-price']], 'renew'],
  ['change the plan of an expired subscription', [['expire']], 'change-plan'],
  ['fail to pay what is not due', [['cancel']], 'fail-payment'],
])('it is impossible to %s', async (_name, steps, action) => {
  const { id, status } = await runHistory(user, steps);
  const refused = await user.act(id, action, action === 'change-plan' ? { productId: 'gold' } : {});
  expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining(id) } });
  expect((await fetchSubscriptionStatus(user, id)).status).toBe(status);
});
