import { describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startGooglePlayClient, startTime } from './google-play-client-app.ts';
import { runSteps, type Step } from './random-histories.ts';

const client = startBeforeAll(startGooglePlayClient);

const state = (name: string): string => `SUBSCRIPTION_STATE_${name}`;
const on = (date: string): string => `2027-${date}T10:00:00.000Z`;
const system = { canceledStateContext: { systemInitiatedCancellation: {} } };

/** Buys a subscription at `startTime`, runs the steps and fetches it. */
async function runHistory(steps: readonly Step[], order: object = {}) {
  client.clock.set(startTime);
  const created = (await client.buy(order)).body;
  await runSteps(client, created.id, steps);
  const { subscriptionState, lineItems, ...purchase } = (await client.subscription(created.id)).body;
  const [line] = lineItems;
  return { id: created.id, created, purchase: { state: subscriptionState, ...purchase }, line };
}

/** Lists the notification numbers of a purchase, the oldest first. */
async function listNotificationTypes(id: string): Promise<unknown[]> {
  const { notifications } = (await client.control('GET', '/control')).body;
  return notifications
    .filter(({ purchaseId }: { purchaseId: string }) => purchaseId === id)
    .map((native: Record<string, { notificationType?: number }>) =>
      native.subscriptionNotification ? native.subscriptionNotification.notificationType : 'voided',
    );
}

describe('installment plan of Google Play with three payments', () => {
  const pending = { pendingCancellation: {} };
  test.each<[string, readonly Step[], string, object, readonly unknown[]]>([
    ['commits to two further payments', [], 'ACTIVE', { remaining: 2 }, [4]],
    ['is paid after a cancelation', [['cancel'], ['renew']], 'ACTIVE', { remaining: 1, ...pending }, [4, 18, 2]],
    [
      'is canceled with the last committed payment',
      [['cancel'], ['renew'], ['renew']],
      'CANCELED',
      { remaining: 0, ...pending },
      [4, 18, 2, 2, 3],
    ],
    ['is restarted', [['cancel'], ['uncancel']], 'ACTIVE', { remaining: 2 }, [4, 18, 7]],
    [
      'is canceled at once after the commitment',
      [['renew'], ['renew'], ['renew'], ['cancel']],
      'CANCELED',
      { remaining: 0 },
      [4, 2, 2, 2, 3],
    ],
  ])('%s', async (_title, steps, name, { remaining, ...details }: { remaining?: number }, types) => {
    const { id, purchase, line } = await runHistory(steps, { installments: 3 });
    expect(purchase.state).toBe(state(name));
    expect(line.autoRenewingPlan.installmentDetails).toEqual({
      initialCommittedPaymentsCount: 3,
      remainingCommittedPaymentsCount: remaining,
      ...details,
    });
    expect(await listNotificationTypes(id)).toEqual(types);
  });
});

/** Fails a payment, which Google does not report for a day. */
const silently = ['fail-payment', { silent: true }] as const;

describe('subscription of Google Play', () => {
  test.each<[string, readonly Step[], string, string, readonly unknown[]]>([
    ['is active after the purchase', [], 'ACTIVE', '02-28', [4]],
    ['renews', [['renew'], ['renew']], 'ACTIVE', '04-30', [4, 2, 2]],
    ['expires without a renewal action', ['P1M'], 'EXPIRED', '02-28', [4, 13]],
    ['renews late', ['P1M', 'P3D', ['renew']], 'ACTIVE', '03-31', [4, 13, 2]],
    ['is canceled', [['cancel']], 'CANCELED', '02-28', [4, 3]],
    ['expires after a cancellation', [['cancel'], 'P1M'], 'EXPIRED', '02-28', [4, 3, 13]],
    ['is restarted', [['cancel'], ['uncancel']], 'ACTIVE', '02-28', [4, 3, 7]],
    ['has a grace period', [['fail-payment']], 'IN_GRACE_PERIOD', '03-07', [4, 6]],
    [
      'recovers in the grace period without a gap',
      [['fail-payment'], 'P1M', ['recover']],
      'ACTIVE',
      '03-31',
      [4, 6, 2],
    ],
    ['is active for a day while Google retries a payment', [silently, 'P28D'], 'ACTIVE', '02-28', [4]],
    ['has a grace period after a day of retries', [silently, 'P29D'], 'IN_GRACE_PERIOD', '03-07', [4, 6]],
    ['renews while Google retries a payment', [silently, 'P28D', ['renew']], 'ACTIVE', '03-31', [4, 2]],
    ['is on hold after the grace period', [['fail-payment'], 'P1M', 'P8D'], 'ON_HOLD', '03-07', [4, 6, 5]],
    [
      'is on hold after a second failed payment',
      ['P1D', ['fail-payment'], ['fail-payment']],
      'ON_HOLD',
      '02-01',
      [4, 6, 5],
    ],
    ['is on hold without a grace period', ['P1D', ['fail-payment', { grace: false }]], 'ON_HOLD', '02-01', [4, 5]],
    [
      'starts a new period after a recovery from hold',
      ['P1M', ['fail-payment'], 'P8D', ['renew']],
      'ACTIVE',
      '04-08',
      [4, 13, 6, 5, 1],
    ],
    ['expires after 30 days of hold', [['fail-payment'], 'P1M', 'P37D'], 'EXPIRED', '03-07', [4, 6, 5, 3, 13]],
    [
      'ends if it is canceled in hold',
      [['fail-payment', { grace: false }], ['cancel']],
      'EXPIRED',
      '01-31',
      [4, 5, 3, 13],
    ],
    ['expires with the action expire', ['P1D', ['expire']], 'EXPIRED', '02-01', [4, 13]],
    ['stays active after a refund', ['P1D', ['refund']], 'ACTIVE', '02-28', [4]],
    ['ends if it is revoked', ['P1D', ['revoke']], 'EXPIRED', '02-01', [4, 12, 'voided', 13]],
    ['is paused', ['P1D', ['pause']], 'PAUSED', '02-01', [4, 11, 10]],
    ['is resumed', ['P1D', ['pause'], 'P1D', ['resume']], 'ACTIVE', '03-02', [4, 11, 10, 1]],
    ['resumes automatically', [['pause', { period: 'P1W' }], 'P1W'], 'ACTIVE', '03-07', [4, 11, 10, 1]],
    ['has a price change', [['raise-price'], ['accept-price']], 'ACTIVE', '02-28', [4, 19, 19]],
  ])('%s', async (_what, steps, expected, expiry, types) => {
    const { id, purchase, line } = await runHistory(steps);
    expect({ state: purchase.state, expiry: line.expiryTime }).toEqual({ state: state(expected), expiry: on(expiry) });
    expect(await listNotificationTypes(id)).toEqual(types);
    expect(line.autoRenewingPlan.autoRenewEnabled).toBe(/CANCELED|EXPIRED/.test(expected) ? undefined : true);
  });

  it('returns the documented members', async () => {
    const { id, purchase, line } = await runHistory([], { applicationUsername: 'Ann', sandbox: true });
    expect((await client.subscription(id)).body.etag).toBe(purchase.etag);
    expect(purchase).toEqual({
      kind: 'androidpublisher#subscriptionPurchaseV2',
      etag: expect.any(String),
      regionCode: 'US',
      state: state('ACTIVE'),
      startTime: on('01-31'),
      acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
      externalAccountIdentifiers: { obfuscatedExternalAccountId: '82e335f7ac0e0e412b2ae15abe662110' },
      testPurchase: {},
    });
    expect(line).toEqual({
      productId: 'monthly',
      expiryTime: on('02-28'),
      latestSuccessfulOrderId: expect.stringMatching(/^GPA\.\d{4}-\d{4}-\d{4}-\d{5}$/),
      autoRenewingPlan: {
        autoRenewEnabled: true,
        recurringPrice: { currencyCode: 'USD', units: '4', nanos: 990_000_000 },
      },
      offerDetails: { basePlanId: 'p1m' },
      offerPhase: { basePrice: {} },
    });
  });

  it.each<[string, readonly Step[], object]>([
    ['canceled', [['cancel']], { canceledStateContext: { userInitiatedCancellation: { cancelTime: on('01-31') } } }],
    ['revoked', [['revoke']], system],
    ['ended in hold', [['fail-payment'], 'P1M', 'P37D'], system],
    ['paused', [['pause']], { pausedStateContext: { autoResumeTime: on('02-28') } }],
  ])('returns the reason if it is %s', async (_what, steps, context) => {
    expect((await runHistory(steps)).purchase).toMatchObject(context);
  });

  it('creates a pending order for a failed payment', async () => {
    const { id, purchase, line } = await runHistory([['renew'], ['fail-payment']]);
    const first = line.latestSuccessfulOrderId.replace(/\.\.0$/, '');
    expect(line.latestSuccessfulOrderId).toBe(`${first}..0`);
    expect(purchase).toMatchObject({
      inGracePeriodStateContext: { renewalDeclined: { pendingOrderId: `${first}..1` } },
    });
    expect((await client.order(`${first}..1`)).body.state).toBe('PENDING');
    await client.act(id, 'recover');
    expect((await client.subscription(id)).body.lineItems[0].latestSuccessfulOrderId).toBe(`${first}..1`);
    expect((await client.order(`${first}..1`)).body.state).toBe('PROCESSED');
  });

  test.each<[string, readonly Step[], string]>([
    ['a renewal of a canceled subscription', [['cancel']], 'renew'],
    ['a renewal of an ended subscription', [['expire']], 'renew'],
    ['a second cancellation', [['cancel']], 'cancel'],
    ['uncancel without a cancellation', [], 'uncancel'],
    ['a restart after a cancellation in the grace period', [['fail-payment'], ['cancel']], 'uncancel'],
    ['a recovery without a failed payment', [], 'recover'],
    ['a failed payment without a due payment', [['cancel']], 'fail-payment'],
    ['a second expiration', [['expire']], 'expire'],
    ['a second refund', [['refund']], 'refund'],
    ['a second revocation', [['revoke']], 'revoke'],
    ['a pause of a canceled subscription', [['cancel']], 'pause'],
    ['resume without a pause', [], 'resume'],
    ['acceptance without a price change', [], 'accept-price'],
    ['sharing', [], 'share'],
  ])('rejects %s', async (_what, steps, action) => {
    const { id } = await runHistory(steps);
    expect(await client.act(id, action)).toMatchObject({ status: 422, body: { message: expect.any(String) } });
  });
});

describe('subscription of Google Play with autoRenew', () => {
  it('renews 12 times in a year', async () => {
    const { purchase, line } = await runHistory(['P1Y'], { autoRenew: true });
    expect(purchase.state).toBe(state('ACTIVE'));
    expect(line.latestSuccessfulOrderId).toMatch(/\.\.11$/);
    expect(line.expiryTime).toBe('2028-02-29T10:00:00.000Z');
  });

  it('ends without consent to a price increase and renews at the higher price with consent', async () => {
    const order = { productId: 'dear', autoRenew: true };
    const raise: Step = ['raise-price', { priceMicros: 6_000_000 }];
    const waiting = await runHistory([raise, 'P1M'], order);
    expect(waiting.line.autoRenewingPlan).toMatchObject({
      recurringPrice: { units: '4' },
      priceChangeDetails: {
        newPrice: { currencyCode: 'USD', units: '6' },
        priceChangeMode: 'PRICE_INCREASE',
        priceChangeState: 'OUTSTANDING',
        expectedNewPriceChargeTime: on('03-31'),
      },
    });
    expect((await runHistory([raise, 'P2M'], order)).purchase).toMatchObject({ state: state('EXPIRED'), ...system });
    const agreed = await runHistory([raise, ['accept-price'], 'P1M'], order);
    expect(agreed.line.autoRenewingPlan).toMatchObject({
      recurringPrice: { units: '6' },
      priceChangeDetails: { priceChangeState: 'APPLIED' },
    });
    expect((await client.order(agreed.line.latestSuccessfulOrderId)).body.total).toEqual({
      currencyCode: 'USD',
      units: '6',
    });
  });
});

describe('change-plan (Google Play)', () => {
  it('changes the base plan of the same product', async () => {
    const { id } = (await client.buy({ productId: 'several-plans' })).body;
    const { body } = await client.act(id, 'change-plan', { period: 'P1Y', priceMicros: 49_990_000 });
    const [old, successor] = [(await client.subscription(id)).body, (await client.subscription(body.id)).body];
    expect(successor).toMatchObject({
      linkedPurchaseToken: id,
      lineItems: [{ productId: 'several-plans', offerDetails: { basePlanId: 'p1y' } }],
    });
    expect(old).toMatchObject({ lineItems: [{ productId: 'several-plans', offerDetails: { basePlanId: 'p1m' } }] });
    await client.act(body.id, 'renew');
    const [{ expiryTime }] = (await client.subscription(body.id)).body.lineItems;
    expect(Date.parse(expiryTime) - Date.parse(successor.lineItems[0].expiryTime)).toBeGreaterThan(364 * 86_400_000);
    expect(await client.act(body.id, 'change-plan', { period: 'P1Y' })).toMatchObject({ status: 422 });
  });

  it('creates a purchase that references and ends the old one', async () => {
    const { id } = await runHistory(['P1D'], { applicationUsername: 'mover' });
    const { body } = await client.act(id, 'change-plan', {
      productId: 'yearly',
      period: 'P1Y',
      priceMicros: 50_000_000,
    });
    expect(body).toMatchObject({ productId: 'yearly', linkedPurchaseToken: id, applicationUsername: 'mover' });
    expect(body.id).not.toBe(id);
    expect(body.notifications.map(({ purchaseId }: { purchaseId: string }) => purchaseId)).toEqual([body.id, id]);
    expect((await client.subscription(body.id)).body).toMatchObject({
      subscriptionState: state('ACTIVE'),
      linkedPurchaseToken: id,
      lineItems: [{ productId: 'yearly', expiryTime: '2028-02-01T10:00:00.000Z', offerDetails: { basePlanId: 'p1y' } }],
    });
    expect((await client.subscription(id)).body).toMatchObject({
      subscriptionState: state('EXPIRED'),
      canceledStateContext: { replacementCancellation: {} },
      lineItems: [{ expiryTime: on('02-01') }],
    });
    expect(await client.act(id, 'change-plan', { productId: 'monthly' })).toMatchObject({ status: 422 });
    expect(await client.act(body.id, 'change-plan', { productId: 'yearly' })).toMatchObject({ status: 422 });
    expect(await client.act(body.id, 'change-plan')).toMatchObject({ status: 400 });
  });

  it('changes the plan at the next renewal if it is deferred', async () => {
    const { id } = await runHistory(['P1D'], { productId: 'gold', autoRenew: true });
    const silver = { productId: 'silver', period: 'P1Y', priceMicros: 20_000_000, deferred: true };
    const { body } = await client.act(id, 'change-plan', silver);
    const deferred = (await client.subscription(body.id)).body;
    expect(deferred).toMatchObject({ linkedPurchaseToken: id, subscriptionState: state('ACTIVE') });
    expect(deferred.lineItems).toMatchObject([
      { productId: 'gold', expiryTime: on('02-28'), deferredItemReplacement: { productId: 'silver' } },
      { productId: 'silver', autoRenewingPlan: { autoRenewEnabled: true }, offerDetails: { basePlanId: 'p1y' } },
    ]);
    expect(deferred.lineItems[0].autoRenewingPlan).not.toHaveProperty('autoRenewEnabled');
    expect(Object.keys(deferred.lineItems[1])).not.toContain('expiryTime');
    expect(Object.keys(deferred.lineItems[1])).not.toContain('latestSuccessfulOrderId');
    for (const isDeferred of [true, false]) {
      const bronze = { ...silver, productId: 'bronze', deferred: isDeferred };
      expect(await client.act(body.id, 'change-plan', bronze)).toMatchObject({ status: 422 });
    }
    expect(await client.act(body.id, 'add-item', { productId: 'extra' })).toMatchObject({ status: 422 });
    await client.act(body.id, 'renew');
    expect((await client.subscription(body.id)).body.lineItems).toMatchObject([
      {
        productId: 'silver',
        expiryTime: '2028-02-28T10:00:00.000Z',
        latestSuccessfulOrderId: expect.stringMatching(/\.\.0$/),
        itemReplacement: { productId: 'gold', replacementMode: 'DEFERRED' },
      },
      { productId: 'gold', expiryTime: on('02-28') },
    ]);
    expect((await client.control('GET', `/control/purchases/${body.id}`)).body).toMatchObject({
      productId: 'silver',
      paidMicros: 20_000_000,
    });
    await client.act(body.id, 'renew');
    expect((await client.subscription(body.id)).body.lineItems).toHaveLength(1);
  });
});
