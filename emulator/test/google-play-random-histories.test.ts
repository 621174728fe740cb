import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sampleRuns } from '../../testing/sample.ts';
import { type GooglePlayClient, startGooglePlayClient, startTime } from './google-play-client-app.ts';
import { runStep, type Step } from './random-histories.ts';

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
