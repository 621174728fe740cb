import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodePayload, type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { fetchSubscriptionStatus, type Step } from './random-histories.ts';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

const plans = fc
  .tuple(fc.constantFrom('gold', 'tin', 'weekly'), fc.constantFrom('P1M', 'P1W'), fc.constantFrom(990_000, 9_990_000))
  .map(([name, period, priceMicros]): Step => {
    return ['change-plan', { productId: `${name}-${period}-${priceMicros}`, period, priceMicros }];
  });
const simple = [
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
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...simple).map((action): Step => [action]) },
  { weight: 2, arbitrary: fc.constantFrom('PT1H', 'P3D', 'P20D', 'P1M', 'P3M') },
  { weight: 1, arbitrary: plans },
);

const whatHolds: Readonly<
  Record<number, (now: number, seen: Awaited<ReturnType<typeof fetchSubscriptionStatus>>) => boolean>
> = {
  1: (now, { transaction }) => transaction.expiresDate > now && transaction.revocationDate === undefined,
  2: (now, { transaction, renewal }) => transaction.expiresDate <= now && renewal.expirationIntent !== undefined,
  3: (now, { transaction, renewal }) => transaction.expiresDate <= now && renewal.isInBillingRetryPeriod,
  4: (now, { renewal }) => renewal.gracePeriodExpiresDate > now && renewal.expirationIntent === undefined,
  5: (_now, { transaction, renewal }) => transaction.revocationDate !== undefined && renewal.autoRenewStatus === 0,
};

it('whatever happens, a status agrees with the dates, a share follows until it is lost, and no transaction comes twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, autoRenew) => {
      user.clock.set(startTime);
      const { id } = (await user.buy({ autoRenew })).body;
      const shareId = (await user.act(id, 'share', { applicationUsername: `member of ${id}` })).body.id;
      let isLost = false;
      for (const one of steps) {
        const { status } = typeof one === 'string' ? await user.advance(one) : await user.act(id, ...one);
        expect([200, 422]).toContain(status);
        const [seen, share] = [await fetchSubscriptionStatus(user, id), await fetchSubscriptionStatus(user, shareId)];
        expect({ ...seen, holds: whatHolds[seen.status]?.(user.clock.now(), seen) }).toMatchObject({ holds: true });
        isLost ||= seen.transaction.revocationDate !== undefined;
        expect(share.transaction.revocationDate !== undefined).toBe(isLost);
        if (!isLost) expect(share.status).toBe(seen.status);
      }
      const { body } = await user.callServerApi(`/inApps/v2/history/${id}`);
      const ids = body.signedTransactions.map((jws: string) => decodePayload(jws).transactionId);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 60 },
  );
});
