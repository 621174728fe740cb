import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type StoreCClient, startStoreCClient, startTime } from './store-c-client-app.ts';

let user: StoreCClient;
beforeAll(async () => {
  user = await startStoreCClient();
});
afterAll(() => user.close());

type Step = readonly [action: string, details?: object] | string;

let bought = 0;

const step = fc.oneof(
  fc
    .constantFrom('renew', 'cancel', 'uncancel', 'fail-payment', 'recover', 'expire', 'refund', 'revoke')
    .map((action): Step => [action]),
  fc.constantFrom('PT1H', 'PT4H', 'P3D', 'P20D', 'P1M', 'P3M'),
);

it('whatever happens, a state agrees with its dates', async () => {
  const lagMs = 3 * 3_600_000;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), fc.boolean(), async (steps, autoRenew) => {
      user.clock.set(startTime);
      bought += 1;
      const { id } = (await user.buy({ productId: `product ${bought}`, autoRenew })).body;
      for (const one of steps) {
        const { status } = typeof one === 'string' ? await user.advance(one) : await user.act(id, ...one);
        expect([200, 422]).toContain(status);
        const { state, ...dates } = (await user.control('GET', `/control/purchases/${id}`)).body;
        const now = user.clock.now();
        const [end, graceEnd] = [Date.parse(dates.expirationTime), Date.parse(dates.expirationTimeWithGrace)];
        expect(graceEnd).toBeGreaterThanOrEqual(end);
        if (state === 'Active') expect(end + lagMs).toBeGreaterThan(now);
        else if (state === 'InDunning') expect(graceEnd).toBeGreaterThan(now);
        else expect(dates.autoRenew).toBe(false);
        if (state === 'Inactive' || state === 'Failed') expect(end).toBeLessThanOrEqual(now);
      }
    }),
    { numRuns: 60 },
  );
});
