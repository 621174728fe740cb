import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sampleRuns } from '../../testing/sample.ts';
import { hourMs } from '../calendar.ts';
import { type MicrosoftStoreClient, startMicrosoftStoreClient, startTime } from './microsoft-store-client-app.ts';
import { runStep, type Step } from './random-histories.ts';

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
