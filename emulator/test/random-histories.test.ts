import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sampleRuns } from '../../testing/sample.ts';
import { hourMs } from '../calendar.ts';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { type GooglePlayClient, startGooglePlayClient } from './google-play-client-app.ts';
import { type MicrosoftStoreClient, startMicrosoftStoreClient } from './microsoft-store-client-app.ts';
import { fetchSubscriptionStatus, runStep, type Step } from './random-histories.ts';

describe('the emulated App Store', () => {
  let client: EmulatorClient;
  beforeAll(async () => {
    client = await startEmulatorClient();
  });
  afterAll(() => client.close());

  const plans = fc
    .tuple(fc.constantFrom('gold', 'tin', 'weekly'), fc.constantFrom('P1M', 'P1W'), fc.constantFrom(990_000, 9_990_000))
    .map(([name, period, priceMicros]): Step => {
      return ['change-plan', { productId: `${name}-${period}-${priceMicros}`, period, priceMicros }];
    });
  const actions = [
    'renew',
    'cancel',
    'uncancel',
    'fail-payment',
    'recover',
    'expire',
    'refund',
    'raise-price',
    'accept-price',
    'extend',
    'redeem-offer',
    'reverse-refund',
  ];
  const anyStep: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...actions).map((action): Step => [action]) },
    { weight: 2, arbitrary: fc.constantFrom('PT1H', 'P3D', 'P20D', 'P1M', 'P3M') },
    { weight: 1, arbitrary: plans },
  );

  const invariants: Readonly<
    Record<number, (now: number, subscription: Awaited<ReturnType<typeof fetchSubscriptionStatus>>) => boolean>
  > = {
    1: (now, { transaction }) => transaction.expiresDate > now && transaction.revocationDate === undefined,
    2: (now, { transaction, renewal }) => transaction.expiresDate <= now && renewal.expirationIntent !== undefined,
    3: (now, { transaction, renewal }) => transaction.expiresDate <= now && renewal.isInBillingRetryPeriod,
    4: (now, { renewal }) => renewal.gracePeriodExpiresDate > now && renewal.expirationIntent === undefined,
    5: (_now, { transaction, renewal }) => transaction.revocationDate !== undefined && renewal.autoRenewStatus === 0,
  };

  it('keeps status, dates, shares and transaction ids consistent in random histories', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 12 }), fc.boolean(), async (steps, autoRenew) => {
        client.clock.set(startTime);
        const { id } = (await client.buy({ autoRenew })).body;
        const shareId = (await client.act(id, 'share', { applicationUsername: `member of ${id}` })).body.id;
        /** The owner's transaction whose refund ended the access of the member. */
        let refundedId: string | undefined;
        for (const step of steps) {
          const { status } = await runStep(client, id, step);
          expect([200, 422]).toContain(status);
          const [owned, share] = [
            await fetchSubscriptionStatus(client, id),
            await fetchSubscriptionStatus(client, shareId),
          ];
          expect({ ...owned, holds: invariants[owned.status]?.(client.clock.now(), owned) }).toMatchObject({
            holds: true,
          });
          const { transactionId, revocationDate } = owned.transaction;
          if (revocationDate !== undefined) refundedId ??= transactionId;
          else if (step[0] === 'reverse-refund' && status === 200 && transactionId === refundedId)
            refundedId = undefined;
          expect(share.transaction.revocationDate !== undefined).toBe(refundedId !== undefined);
          if (refundedId === undefined) expect(share.status).toBe(owned.status);
        }
        const { body } = await client.callServerApi(`/inApps/v2/history/${id}`);
        const ids = body.signedTransactions.map((jws: string) => decodePayload(jws).transactionId);
        expect(new Set(ids).size).toBe(ids.length);
      }),
      sampleRuns({ sample: 10, full: 150 }),
    );
  });
});

describe('the emulated Google Play', () => {
  let client: GooglePlayClient;
  beforeAll(async () => {
    client = await startGooglePlayClient();
  });
  afterAll(() => client.close());
  let purchaseCount = 0;

  const actions = [
    ['renew', 'cancel', 'uncancel', 'fail-payment', 'recover', 'expire'],
    ['refund', 'revoke', 'pause', 'resume', 'raise-price', 'accept-price'],
  ].flat();
  const anyStep = fc.oneof(
    fc.constantFrom(...actions).map((action): Step => [action]),
    fc.constantFrom('PT1H', 'P3D', 'P8D', 'P1M', 'P45D'),
  );

  /** States in which the customer has access until the expiration. */
  const statesWithAccess = ['ACTIVE', 'CANCELED', 'IN_GRACE_PERIOD'];

  it('keeps state, dates and orders consistent in random histories', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 12 }), fc.boolean(), async (steps, autoRenew) => {
        client.clock.set(startTime);
        purchaseCount += 1;
        const { id } = (await client.buy({ productId: `product ${purchaseCount}`, autoRenew })).body;
        for (const step of steps) {
          expect([200, 422]).toContain((await runStep(client, id, step)).status);
          const purchase = (await client.control('GET', `/control/purchases/${id}`)).body;
          const end = Date.parse(purchase.expiryTime);
          if (statesWithAccess.includes(purchase.state)) expect(end).toBeGreaterThan(client.clock.now());
          else expect(end).toBeLessThanOrEqual(client.clock.now());
          expect(purchase.autoRenew).toBe(purchase.state !== 'CANCELED' && purchase.state !== 'EXPIRED');
          const isUnpaid = purchase.state === 'IN_GRACE_PERIOD' || purchase.state === 'ON_HOLD';
          const { state } = (await client.order(purchase.latestOrderId)).body;
          if (isUnpaid) expect(state).toBe('PENDING');
          else expect(state).not.toBe('PENDING');
          if (purchase.state === 'ACTIVE') expect(purchase.latestSuccessfulOrderId).toBe(purchase.latestOrderId);
          expect(new Set(purchase.orderIds).size).toBe(purchase.orderIds.length);
        }
      }),
      sampleRuns({ sample: 10, full: 200 }),
    );
  });
});

describe('the emulated Microsoft Store', () => {
  let client: MicrosoftStoreClient;
  beforeAll(async () => {
    client = await startMicrosoftStoreClient();
  });
  afterAll(() => client.close());
  let purchaseCount = 0;

  const anyStep = fc.oneof(
    fc
      .constantFrom('renew', 'cancel', 'uncancel', 'fail-payment', 'recover', 'expire', 'refund', 'revoke')
      .map((action): Step => [action]),
    fc.constantFrom('PT1H', 'PT4H', 'P3D', 'P20D', 'P1M', 'P3M'),
  );

  it('keeps state and dates consistent in random histories', async () => {
    const lagMs = 3 * hourMs;
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 10 }), fc.boolean(), async (steps, autoRenew) => {
        client.clock.set(startTime);
        purchaseCount += 1;
        const { id } = (await client.buy({ productId: `product ${purchaseCount}`, autoRenew })).body;
        for (const step of steps) {
          expect([200, 422]).toContain((await runStep(client, id, step)).status);
          const { state, ...dates } = (await client.control('GET', `/control/purchases/${id}`)).body;
          const now = client.clock.now();
          const [end, graceEnd] = [Date.parse(dates.expirationTime), Date.parse(dates.expirationTimeWithGrace)];
          expect(graceEnd).toBeGreaterThanOrEqual(end);
          if (state === 'Active') expect(end + lagMs).toBeGreaterThan(now);
          else if (state === 'InDunning') expect(graceEnd).toBeGreaterThan(now);
          else expect(dates.autoRenew).toBe(false);
          if (state === 'Inactive' || state === 'Failed') expect(end).toBeLessThanOrEqual(now);
        }
      }),
      sampleRuns({ sample: 10, full: 150 }),
    );
  });
});
