import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { runSteps, type Step } from './random-histories.ts';
import { type StoreBClient, startStoreBClient, startTime } from './store-b-client-app.ts';

let user: StoreBClient;
beforeAll(async () => {
  user = await startStoreBClient();
});
afterAll(() => user.close());

const state = (name: string): string => `SUBSCRIPTION_STATE_${name}`;
const on = (date: string): string => `2027-${date}T10:00:00.000Z`;
const system = { canceledStateContext: { systemInitiatedCancellation: {} } };

/** Buys a subscription at `startTime`, lives it through the steps and looks at it. */
async function live(steps: readonly Step[], order: object = {}) {
  user.clock.set(startTime);
  const bought = (await user.buy(order)).body;
  await runSteps(user, bought.id, steps);
  const { subscriptionState, lineItems, ...purchase } = (await user.subscription(bought.id)).body;
  const [line] = lineItems;
  return { id: bought.id, bought, purchase: { state: subscriptionState, ...purchase }, line };
}

/** The numbers of the notifications of a purchase, oldest first. */
async function toldOf(id: string): Promise<unknown[]> {
  const { notifications } = (await user.control('GET', '/control')).body;
  return notifications
    .filter(({ purchaseId }: { purchaseId: string }) => purchaseId === id)
    .map((native: Record<string, { notificationType?: number }>) =>
      native.subscriptionNotification ? native.subscriptionNotification.notificationType : 'voided',
    );
}

describe('a subscription', () => {
  test.each<[string, readonly Step[], string, string, readonly unknown[]]>([
    ['is bought', [], 'ACTIVE', '02-28', [4]],
    ['renews', [['renew'], ['renew']], 'ACTIVE', '04-30', [4, 2, 2]],
    ['expires when nobody says how it renewed', ['P1M'], 'EXPIRED', '02-28', [4, 13]],
    ['renews late', ['P1M', 'P3D', ['renew']], 'ACTIVE', '03-31', [4, 13, 2]],
    ['is cancelled', [['cancel']], 'CANCELED', '02-28', [4, 3]],
    ['expires once cancelled', [['cancel'], 'P1M'], 'EXPIRED', '02-28', [4, 3, 13]],
    ['is restarted', [['cancel'], ['uncancel']], 'ACTIVE', '02-28', [4, 3, 7]],
    ['has a grace period', [['fail-payment']], 'IN_GRACE_PERIOD', '03-07', [4, 6]],
    ['recovers in grace without a gap', [['fail-payment'], 'P1M', ['recover']], 'ACTIVE', '03-31', [4, 6, 2]],
    ['is on hold after grace', [['fail-payment'], 'P1M', 'P8D'], 'ON_HOLD', '03-07', [4, 6, 5]],
    [
      'is on hold when the payment fails again',
      ['P1D', ['fail-payment'], ['fail-payment']],
      'ON_HOLD',
      '02-01',
      [4, 6, 5],
    ],
    ['is on hold without grace', ['P1D', ['fail-payment', { grace: false }]], 'ON_HOLD', '02-01', [4, 5]],
    [
      'recovers from hold from then on',
      ['P1M', ['fail-payment'], 'P8D', ['renew']],
      'ACTIVE',
      '04-08',
      [4, 13, 6, 5, 1],
    ],
    ['expires after thirty days of hold', [['fail-payment'], 'P1M', 'P37D'], 'EXPIRED', '03-07', [4, 6, 5, 3, 13]],
    [
      'ends when cancelled in hold',
      [['fail-payment', { grace: false }], ['cancel']],
      'EXPIRED',
      '01-31',
      [4, 5, 3, 13],
    ],
    ['expires when told to', ['P1D', ['expire']], 'EXPIRED', '02-01', [4, 13]],
    ['stays active when refunded', ['P1D', ['refund']], 'ACTIVE', '02-28', [4]],
    ['ends when revoked', ['P1D', ['revoke']], 'EXPIRED', '02-01', [4, 12, 'voided', 13]],
    ['is paused', ['P1D', ['pause']], 'PAUSED', '02-01', [4, 11, 10]],
    ['is resumed', ['P1D', ['pause'], 'P1D', ['resume']], 'ACTIVE', '03-02', [4, 11, 10, 1]],
    ['resumes by itself', [['pause', { period: 'P1W' }], 'P1W'], 'ACTIVE', '03-07', [4, 11, 10, 1]],
    ['is told of a price', [['raise-price'], ['accept-price']], 'ACTIVE', '02-28', [4, 19, 19]],
  ])('%s', async (_what, steps, expected, expiry, told) => {
    const { id, purchase, line } = await live(steps);
    expect({ state: purchase.state, expiry: line.expiryTime }).toEqual({ state: state(expected), expiry: on(expiry) });
    expect(await toldOf(id)).toEqual(told);
    expect(line.autoRenewingPlan.autoRenewEnabled).toBe(/CANCELED|EXPIRED/.test(expected) ? undefined : true);
  });

  it('is as Google writes it', async () => {
    const { id, purchase, line } = await live([], { applicationUsername: 'Ann', sandbox: true });
    expect((await user.subscription(id)).body.etag).toBe(purchase.etag);
    expect(purchase).toEqual({
      kind: 'androidpublisher#subscriptionPurchaseV2',
      etag: expect.any(String),
      regionCode: 'US',
      state: state('ACTIVE'),
      startTime: on('01-31'),
      latestOrderId: expect.stringMatching(/^GPA\.\d{4}-\d{4}-\d{4}-\d{5}$/),
      acknowledgementState: 'ACKNOWLEDGEMENT_STATE_PENDING',
      externalAccountIdentifiers: { obfuscatedExternalAccountId: '82e335f7ac0e0e412b2ae15abe662110' },
      testPurchase: {},
    });
    expect(line).toEqual({
      productId: 'monthly',
      expiryTime: on('02-28'),
      latestSuccessfulOrderId: purchase.latestOrderId,
      autoRenewingPlan: {
        autoRenewEnabled: true,
        recurringPrice: { currencyCode: 'USD', units: '4', nanos: 990_000_000 },
      },
      offerDetails: { basePlanId: 'p1m' },
      offerPhase: { basePrice: {} },
    });
  });

  it.each<[string, readonly Step[], object]>([
    ['cancelled', [['cancel']], { canceledStateContext: { userInitiatedCancellation: { cancelTime: on('01-31') } } }],
    ['revoked', [['revoke']], system],
    ['lost in hold', [['fail-payment'], 'P1M', 'P37D'], system],
    ['paused', [['pause']], { pausedStateContext: { autoResumeTime: on('02-28') } }],
  ])('says in what way it is %s', async (_what, steps, context) => {
    expect((await live(steps)).purchase).toMatchObject(context);
  });

  it('has an order that is not paid while its payment fails', async () => {
    const { id, purchase, line } = await live([['renew'], ['fail-payment']]);
    const first = line.latestSuccessfulOrderId.replace(/\.\.0$/, '');
    expect(line.latestSuccessfulOrderId).toBe(`${first}..0`);
    expect(purchase).toMatchObject({
      latestOrderId: `${first}..1`,
      inGracePeriodStateContext: { renewalDeclined: { pendingOrderId: `${first}..1` } },
    });
    expect((await user.order(`${first}..1`)).body.state).toBe('PENDING');
    await user.act(id, 'recover');
    expect((await user.subscription(id)).body.lineItems[0].latestSuccessfulOrderId).toBe(`${first}..1`);
    expect((await user.order(`${first}..1`)).body.state).toBe('PROCESSED');
  });

  test.each<[string, readonly Step[], string]>([
    ['renew a cancelled one', [['cancel']], 'renew'],
    ['renew an ended one', [['expire']], 'renew'],
    ['cancel twice', [['cancel']], 'cancel'],
    ['take no cancellation back', [], 'uncancel'],
    ['restart what was cancelled in grace', [['fail-payment'], ['cancel']], 'uncancel'],
    ['recover what did not fail', [], 'recover'],
    ['fail a payment that is not due', [['cancel']], 'fail-payment'],
    ['expire twice', [['expire']], 'expire'],
    ['refund twice', [['refund']], 'refund'],
    ['revoke twice', [['revoke']], 'revoke'],
    ['pause a cancelled one', [['cancel']], 'pause'],
    ['resume what is not paused', [], 'resume'],
    ['accept no price', [], 'accept-price'],
    ['share', [], 'share'],
  ])('cannot %s', async (_what, steps, action) => {
    const { id } = await live(steps);
    expect(await user.act(id, action)).toMatchObject({ status: 422, body: { message: expect.any(String) } });
  });
});

describe('with autoRenew', () => {
  it('a year has twelve renewals', async () => {
    const { purchase, line } = await live(['P1Y'], { autoRenew: true });
    expect(purchase).toMatchObject({ state: state('ACTIVE'), latestOrderId: expect.stringMatching(/\.\.11$/) });
    expect(line.expiryTime).toBe('2028-02-29T10:00:00.000Z');
  });

  it('a price without consent ends it, and one with consent is paid', async () => {
    const order = { productId: 'dear', autoRenew: true };
    const raise: Step = ['raise-price', { priceMicros: 6_000_000 }];
    const waiting = await live([raise, 'P1M'], order);
    expect(waiting.line.autoRenewingPlan).toMatchObject({
      recurringPrice: { units: '4' },
      priceChangeDetails: {
        newPrice: { currencyCode: 'USD', units: '6' },
        priceChangeMode: 'PRICE_INCREASE',
        priceChangeState: 'OUTSTANDING',
        expectedNewPriceChargeTime: on('03-31'),
      },
    });
    expect((await live([raise, 'P2M'], order)).purchase).toMatchObject({ state: state('EXPIRED'), ...system });
    const agreed = await live([raise, ['accept-price'], 'P1M'], order);
    expect(agreed.line.autoRenewingPlan).toMatchObject({
      recurringPrice: { units: '6' },
      priceChangeDetails: { priceChangeState: 'APPLIED' },
    });
    expect((await user.order(agreed.purchase.latestOrderId)).body.total).toEqual({ currencyCode: 'USD', units: '6' });
  });
});

describe('a change of plan', () => {
  it('is a new purchase that names the old one, which it ends', async () => {
    const { id } = await live(['P1D'], { applicationUsername: 'mover' });
    const { body } = await user.act(id, 'change-plan', { productId: 'yearly', period: 'P1Y', priceMicros: 50_000_000 });
    expect(body).toMatchObject({ productId: 'yearly', linkedPurchaseToken: id, applicationUsername: 'mover' });
    expect(body.id).not.toBe(id);
    expect(body.notifications.map(({ purchaseId }: { purchaseId: string }) => purchaseId)).toEqual([body.id, id]);
    expect((await user.subscription(body.id)).body).toMatchObject({
      subscriptionState: state('ACTIVE'),
      linkedPurchaseToken: id,
      lineItems: [{ productId: 'yearly', expiryTime: '2028-02-01T10:00:00.000Z', offerDetails: { basePlanId: 'p1y' } }],
    });
    expect((await user.subscription(id)).body).toMatchObject({
      subscriptionState: state('EXPIRED'),
      canceledStateContext: { replacementCancellation: {} },
      lineItems: [{ expiryTime: on('02-01') }],
    });
    expect(await user.act(id, 'change-plan', { productId: 'monthly' })).toMatchObject({ status: 422 });
    expect(await user.act(body.id, 'change-plan', { productId: 'yearly' })).toMatchObject({ status: 422 });
    expect(await user.act(body.id, 'change-plan')).toMatchObject({ status: 400 });
  });
});
