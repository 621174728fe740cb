import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/container.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { toUtcDay } from '../../lib/money/daily-rates.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { type BreakdownGroup, getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { aggregatePartitions } from '../../testing/given-purchase.ts';
import { type NotificationFixture, startNotificationFixture } from './notification-fixture.ts';

let fixture: NotificationFixture;
beforeAll(async () => {
  fixture = await startNotificationFixture();
});
afterAll(() => fixture.close());

const orders = {
  subscription: { type: 'paid subscription' },
  'one-time purchase': { type: 'non consumable' },
} as const;

/** Buys a subscription and a one-time purchase, in production and in the sandbox. Renews, ends and refunds them. */
async function givenHistories(platform: Platform, productIds: readonly [subscription: string, oneTime: string]) {
  const keys = await fixture.createNotifiedApp(platform, platform === 'store_b' ? { acknowledge: true } : {});
  const sales = Object.values(orders).flatMap(({ type }, position) =>
    [false, true].map((sandbox) => ({ platform, type, productId: productIds[position], sandbox })),
  );
  for (const sale of sales) {
    const order = { ...sale, applicationUsername: createUniqueName('user') };
    const { id, validate } = await fixture.callControl('/purchases', order);
    const { body } = await fixture.validate(keys, validate);
    if (!body.ok) throw new Error(body.message);
    const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
    const actions = sale.type === orders.subscription.type ? ['renew', 'cancel', 'expire'] : ['refund'];
    for (const action of actions) {
      await fixture.callControl(`/purchases/${id}/${action}`, {});
      await fixture.processNotifications();
      await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    }
    await aggregatePartitions([purchaseKey.partition(keys.appName, purchaseId)]);
  }
  return keys;
}

describe('reasons in the statistics', () => {
  it.each([
    ['store_a', 'premium', 'full'],
    ['store_b', 'premium', 'full'],
    ['store_c', 'premium', 'full'],
    ['processor_a', 'premium', 'full'],
    ['service_processor_a', 'premium', 'full'],
    ['processor_b', 'monthly', 'full_version'],
  ] as const)(
    'counts New, Renewed and Lost of %s without the sandbox and one-time purchases',
    async (platform, subscriptionId, oneTimeId) => {
      const keys = await givenHistories(platform, [subscriptionId, oneTimeId]);
      const [startdate, enddate] = [-1, 1].map((days) => toUtcDay(getService().now() + days * dayMs)) as [
        string,
        string,
      ];
      const readReasons = async (sandbox: boolean) => {
        const query = { startdate, enddate, interval: 'range', sandbox: String(sandbox) };
        const { groups } = (await callWithSecretKey(getStatsBreakdown, keys, { query })).body;
        return groups.map(({ rows }: BreakdownGroup) => rows[0]?.subscriptionNotifications);
      };
      // The emulated merchant of Braintree is in the sandbox, with both subscriptions.
      const [production, sandbox] = platform === 'processor_b' ? [0, 2] : [1, 1];
      const toReasons = (count: number) => ({ PURCHASED: count, RENEWED: count, EXPIRED: count, REFUNDED: 0 });
      expect(await readReasons(false)).toMatchObject([toReasons(production)]);
      expect(await readReasons(true)).toMatchObject([toReasons(sandbox)]);
    },
  );
});
