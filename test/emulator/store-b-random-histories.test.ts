import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Step } from './random-histories.ts';
import { type StoreBClient, startStoreBClient, startTime } from './store-b-client-app.ts';

let user: StoreBClient;
beforeAll(async () => {
  user = await startStoreBClient();
});
afterAll(() => user.close());

let bought = 0;

const actions = [
  ['renew', 'cancel', 'uncancel', 'fail-payment', 'recover', 'expire'],
  ['refund', 'revoke', 'pause', 'resume', 'raise-price', 'accept-price'],
].flat();
const step = fc.oneof(
  fc.constantFrom(...actions).map((action): Step => [action]),
  fc.constantFrom('PT1H', 'P3D', 'P8D', 'P1M', 'P45D'),
);

/** States in which the customer has access, until the end that the store names. */
const withAccess = ['ACTIVE', 'CANCELED', 'IN_GRACE_PERIOD'];

it('whatever happens, a state agrees with its dates and its orders', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, autoRenew) => {
      user.clock.set(startTime);
      bought += 1;
      const { id } = (await user.buy({ productId: `product ${bought}`, autoRenew })).body;
      for (const one of steps) {
        const { status } = typeof one === 'string' ? await user.advance(one) : await user.act(id, ...one);
        expect([200, 422]).toContain(status);
        const shown = (await user.control('GET', `/control/purchases/${id}`)).body;
        const end = Date.parse(shown.expiryTime);
        if (withAccess.includes(shown.state)) expect(end).toBeGreaterThan(user.clock.now());
        else expect(end).toBeLessThanOrEqual(user.clock.now());
        expect(shown.autoRenew).toBe(shown.state !== 'CANCELED' && shown.state !== 'EXPIRED');
        const isUnpaid = shown.state === 'IN_GRACE_PERIOD' || shown.state === 'ON_HOLD';
        const { state } = (await user.order(shown.latestOrderId)).body;
        if (isUnpaid) expect(state).toBe('PENDING');
        else expect(state).not.toBe('PENDING');
        if (shown.state === 'ACTIVE') expect(shown.latestSuccessfulOrderId).toBe(shown.latestOrderId);
        expect(new Set(shown.orderIds).size).toBe(shown.orderIds.length);
      }
    }),
    { numRuns: 80 },
  );
});
