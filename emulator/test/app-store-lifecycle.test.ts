import { beforeEach, describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { dayMs } from '../calendar.ts';
import { toUserUuid } from '../user-uuid.ts';
import { createFixedClock, decodePayload, startEmulatorClient, startTime } from './emulator-client.ts';
import {
  fetchSubscriptionStatus,
  listNotificationTypes,
  monthEnd,
  nextMonthEnd,
  runHistory,
  runSteps,
  type Step,
} from './random-histories.ts';

const client = startBeforeAll(startEmulatorClient);
beforeEach(() => client.reset());

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

  it('ends completely after a renewal in advance', async () => {
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

  it('bills a canceled plan until the twelfth period, then ends it', async () => {
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

  it('retries a payment for 90 days without a grace period, and moves the end after a recovery', async () => {
    const commitment = { commitment: true };
    expect((await runHistory(client, retryDays(85), commitment)).status).toBe(3);
    expect((await runHistory(client, retryDays(91), commitment)).status).toBe(2);
    const before = (await runHistory(client, [], commitment)).transaction.commitmentInfo.commitmentExpiresDate;
    const { transaction } = await runHistory(client, [...retryDays(20), ['recover']], commitment);
    expect(transaction.commitmentInfo.commitmentExpiresDate).toBeGreaterThan(before);
  });
});

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

describe('scheduled transitions of the App Store', () => {
  it('expires a subscription without a renewal and sends a notification', async () => {
    const { id, status, renewal } = await runHistory(client, ['P1M']);
    expect({ status, intent: renewal.expirationIntent }).toEqual({ status: 2, intent: 5 });
    expect(await listNotificationTypes(client, id)).toEqual(['SUBSCRIBED/INITIAL_BUY', 'EXPIRED']);
  });

  it('expires a canceled subscription as voluntary', async () => {
    expect(await runHistory(client, [['cancel'], 'P1M'])).toMatchObject({
      status: 2,
      renewal: { expirationIntent: 1 },
    });
  });

  it('ends access with the grace period and billing retry after 60 days', async () => {
    const { id, status } = await runHistory(client, ['P1M', ['fail-payment'], 'P16D']);
    expect(status).toBe(3);
    await client.advance('P44D');
    expect(await fetchSubscriptionStatus(client, id)).toMatchObject({ status: 2, renewal: { expirationIntent: 2 } });
    expect((await listNotificationTypes(client, id)).slice(-2)).toEqual([
      'GRACE_PERIOD_EXPIRED',
      'EXPIRED/BILLING_RETRY',
    ]);
  });

  it('ends a canceled subscription with its grace period', async () => {
    expect(await runHistory(client, [['fail-payment'], ['cancel'], 'P3M'])).toMatchObject({
      status: 2,
      renewal: { expirationIntent: 1 },
    });
  });

  it('renews automatically on the same day of each month for a year', async () => {
    const { id, transaction } = await runHistory(client, ['P1Y'], { autoRenew: true, applicationUsername: 'yearling' });
    const { body } = await client.callServerApi(`/inApps/v2/history/${id}`);
    const history = body.signedTransactions.map(decodePayload);
    expect(history).toHaveLength(13);
    expect(
      history.map((transaction: { purchaseDate: number }) => new Date(transaction.purchaseDate).getUTCDate()),
    ).toEqual([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31]);
    expect(transaction.expiresDate).toBe(Date.parse('2028-02-29T10:00:00Z'));
  });

  it('does not renew automatically before a price increase is accepted', async () => {
    const { id } = await runHistory(client, [['raise-price']], { autoRenew: true });
    await client.advance('P1M');
    expect(await fetchSubscriptionStatus(client, id)).toMatchObject({ status: 2, renewal: { expirationIntent: 3 } });
  });

  it('runs the renewals of all customers in chronological order', async () => {
    client.clock.set(startTime);
    const weekly = await client.buy({ productId: 'weekly', period: 'P1W', autoRenew: true });
    const monthly = await client.buy({ productId: 'other', autoRenew: true });
    await client.advance('P3M');
    const { body } = await client.control('GET', '/control');
    const renewals = body.notifications
      .filter(({ purchaseId }: { purchaseId: string }) => [weekly.body.id, monthly.body.id].includes(purchaseId))
      .map(({ at }: { at: string }) => Date.parse(at));
    expect(renewals).toHaveLength(2 + 12 + 3);
    expect(renewals).toEqual([...renewals].sort((a, b) => a - b));
  });
});

it('uses the clock of the caller', async () => {
  const clock = createFixedClock(Date.parse('2030-06-01T00:00:00Z'));
  const secondClient = await startEmulatorClient({ clock });
  await secondClient.control('POST', '/control/clock', { set: '2030-07-01T00:00:00Z' });
  expect(clock.now()).toBe(Date.parse('2030-07-01T00:00:00Z'));
  clock.set(Date.parse('2030-08-01T00:00:00Z'));
  expect((await secondClient.control('GET', '/control/clock')).body).toEqual({ now: '2030-08-01T00:00:00.000Z' });
  await secondClient.close();
});

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

test.each([
  ['user-42', '7631bc07-a1cc-3fcd-86e7-0fc6b2fb4a43'],
  ['alice@example.com', 'c160f8cc-69a4-30bf-8b03-62752353d060'],
  ['日本語', '00110af8-b439-3ef3-872c-50be5b332bec'],
  ['7E3FB20B-4CDB-47CC-936D-99D65F608138', '7e3fb20b-4cdb-47cc-936d-99d65f608138'],
])('toUserUuid converts %s to %s', (applicationUsername, uuid) => {
  expect(toUserUuid(applicationUsername)).toBe(uuid);
});
