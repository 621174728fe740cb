import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sampleRuns } from '../../testing/sample.ts';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { fetchSubscriptionStatus, runStep, type Step } from './random-histories.ts';

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
        else if (step[0] === 'reverse-refund' && status === 200 && transactionId === refundedId) refundedId = undefined;
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
