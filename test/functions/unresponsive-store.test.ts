import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { handler as sweep } from '../../functions/workers/enqueue-due-items.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
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
  const order = { platform, productId, type: 'paid subscription', applicationUsername: createUniqueName('user') };
  const { id, validate } = await service.callControl('/purchases', order);
  const { body } = await service.validate(keys, validate);
  if (!body.ok) throw new Error(body.message);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  return {
    look: async () => await look(keys, purchaseId),
    act: async (action: string) => await service.callControl(`/purchases/${id}/${action}`, {}),
  };
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
  it.each(reachable)('refreshes and expires a subscription and announces it once: %s', async (platform, productId) => {
    const { look } = await subscription(platform, productId);
    expect(await look()).toMatchObject({ isExpired: false, reasons: ['PURCHASED'] });
    // Some stores retry a payment for weeks.
    for (let week = 0; week < 14; week++) await passes('P7D');
    const expired = await look();
    expect(expired.isExpired).toBe(true);
    expect(expired.reasons.filter((reason: string) => reason === 'EXPIRED')).toEqual(['EXPIRED']);
    await passes('P7D');
    expect((await look()).reasons).toEqual(expired.reasons);
  });

  it.each(reachable)('finds a renewal without a validation: %s', async (platform, productId) => {
    const { act, look } = await subscription(platform, productId);
    await act('renew');
    await passes('P4D');
    expect(await look()).toMatchObject({ isExpired: false, reasons: ['PURCHASED', 'RENEWED'] });
  });
});

describe('refreshPurchase with an unavailable store', () => {
  it.each(['store_a', 'store_b'] as const)(
    'expires a subscription 24 hours after its date: %s',
    async (platform) => {
      const { act, look } = await subscription(platform, 'premium');
      await act('renew');
      await service.callControl('/faults', { platform, fault: 'down', times: 10_000 });
      await service.callControl('/clock', { advance: 'P62D' });
      for (let failure = 1; failure <= 3; failure++) await passes('P1D');
      expect(await look()).toMatchObject({ isExpired: true, reasons: ['PURCHASED', 'EXPIRED'] });
      await service.clearFaults();
      for (let look = 0; look < 3; look++) await passes('P1D');
      // The outage hid a renewal that has expired too.
      const { reasons } = await look();
      expect(reasons).toEqual(['PURCHASED', 'EXPIRED', 'RENEWED', 'EXPIRED']);
    },
    60_000,
  );

  it.each(['store_a', 'store_b'] as const)(
    'expires a subscription at its date if it was canceled before the outage: %s',
    async (platform) => {
      const { act, look } = await subscription(platform, 'premium');
      await act('cancel');
      await passes('P4D');
      await service.callControl('/faults', { platform, fault: 'down', times: 10_000 });
      await passes('P32D');
      expect(await look()).toMatchObject({ isExpired: true, reasons: ['PURCHASED', 'WILL_LAPSE', 'EXPIRED'] });
      await service.clearFaults();
      await passes('PT2M');
      expect((await look()).reasons).toEqual(['PURCHASED', 'WILL_LAPSE', 'EXPIRED']);
    },
  );

  it('expires a subscription at its date if the settings lack API credentials', async () => {
    const none = { issuerId: undefined, keyId: undefined, privateKey: undefined, sharedSecret: undefined };
    const { look } = await subscription('store_a', 'premium', none);
    await passes('P20D');
    expect(await look()).toMatchObject({ isExpired: false, reasons: ['PURCHASED'] });
    await passes('P12D');
    expect(await look()).toMatchObject({ isExpired: true, reasons: ['PURCHASED', 'EXPIRED'] });
    await passes('P12D');
    expect((await look()).reasons).toEqual(['PURCHASED', 'EXPIRED']);
  });
});
