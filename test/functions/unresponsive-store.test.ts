import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { handler as sweep } from '../../functions/workers/enqueue-due-items.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buyValidated } from '../../testing/buy-validated.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { createTestTable } from '../../testing/table.ts';
import { startWorkQueues, type WorkQueues } from '../../testing/work-queues.ts';

let service: TestService;
let queues: WorkQueues;
beforeAll(async () => {
  service = await startTestService();
  // enqueueDueItems leases the due items of all apps, and other tests use another clock.
  await createTestTable(createUniqueName('silent'));
  queues = await startWorkQueues();
});
afterAll(async () => {
  await queues.close();
  await service.close();
});

const reachable: readonly (readonly [Platform, string])[] = [
  ['store_a', 'premium'],
  ['store_b', 'premium'],
  ['store_c', 'premium'],
  ['processor_a', 'basic'],
  ['processor_b', 'monthly'],
];

/** Buys and validates a subscription at a store that sends no notifications. */
async function subscription(platform: Platform, productId: string, settings: object = {}) {
  // Google Play refunds a purchase that is not acknowledged within three days.
  const acknowledged = platform === 'store_b' ? { acknowledge: true } : {};
  const keys = await service.createApp([platform], { ...acknowledged, ...settings });
  const { act, purchaseId } = await buyValidated(service, keys, { platform, productId, type: 'paid subscription' });
  return { look: async () => await look(keys, purchaseId), act };
}

async function look({ appName, secretKey }: IssuedApiKeys, purchaseId: string) {
  const query = { include_notifications: 'true' };
  const { body } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(appName, secretKey),
    params: { purchaseId },
    query,
  });
  const reasons = body.notifications.map(({ reason }: { reason: string }) => reason);
  return { ...body, reasons: reasons.filter((reason: string) => reason !== 'ACKNOWLEDGED') };
}

/** Advances the clock and runs the minutely workers. */
async function passes(advance: string): Promise<void> {
  await service.callControl('/clock', { advance });
  await sweep({}, { getRemainingTimeInMillis: () => 60_000 } as Context);
  await queues.drain();
}

describe('refreshPurchase without store notifications', () => {
  it.each(sampleItems(reachable, 2))(
    'refreshes and expires a subscription and announces it once: %s',
    async (platform, productId) => {
      const { look } = await subscription(platform, productId);
      expect(await look()).toMatchObject({ isExpired: false, reasons: ['PURCHASED'] });
      // Some stores retry a payment for weeks.
      for (let week = 0; week < 14; week++) await passes('P7D');
      const expired = await look();
      expect(expired.isExpired).toBe(true);
      expect(expired.reasons.filter((reason: string) => reason === 'EXPIRED')).toEqual(['EXPIRED']);
      await passes('P7D');
      expect((await look()).reasons).toEqual(expired.reasons);
    },
  );

  it.each(sampleItems(reachable, 2, 'renewal'))(
    'finds a renewal without a validation: %s',
    async (platform, productId) => {
      const { act, look } = await subscription(platform, productId);
      await act('renew');
      await passes('P4D');
      expect(await look()).toMatchObject({ isExpired: false, reasons: ['PURCHASED', 'RENEWED'] });
    },
  );
});
