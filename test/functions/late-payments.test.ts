import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/container.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import { toUtcDay } from '../../lib/money/daily-rates.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { getMrr } from '../../lib/statistics/mrr-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { aggregatePartitions } from '../../testing/given-purchase.ts';
import { type NotificationFixture, startNotificationFixture } from './notification-fixture.ts';

let fixture: NotificationFixture;
beforeAll(async () => {
  fixture = await startNotificationFixture();
});
afterAll(() => fixture.close());

describe('GET /v3/stats/mrr', () => {
  it.each([
    ['store_a', 'premium', 'late'],
    ['store_b', 'premium', 'late'],
    ['store_b', 'premium', 'early'],
    ['store_c', 'premium', 'late'],
    ['processor_a', 'premium', 'late'],
    ['processor_b', 'monthly', 'late'],
  ] as const)('counts the price of the period for %s (%s) if it is charged %s', async (platform, productId, time) => {
    const keys = await fixture.createNotifiedApp(platform, platform === 'store_b' ? { acknowledge: true } : {});
    const order = { platform, type: 'paid subscription', productId, applicationUsername: createUniqueName('user') };
    const { id, validate } = await fixture.callControl('/purchases', order);
    const { body } = await fixture.validate(keys, validate);
    if (!body.ok) throw new Error(body.message);
    const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
    const steps = time === 'late' ? ['P15D', 'P15D', 'fail-payment', 'P5D', 'recover'] : ['P27D', 'renew'];
    for (const step of steps) {
      if (step.startsWith('P')) await fixture.callControl('/clock', { advance: step });
      else await fixture.callControl(`/purchases/${id}/${step}`, {});
      await fixture.processNotifications();
      await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    }
    await aggregatePartitions([purchaseKey.partition(keys.appName, purchaseId)]);
    const today = toUtcDay(getService().now());
    const query = { startdate: today, enddate: today, sandbox: String(platform === 'processor_b') };
    const { rows } = (await callWithSecretKey(getMrr, keys, { query })).body;
    expect(rows).toMatchObject([{ mrrUSD: platform === 'processor_b' ? 9.99 : 4.99 }]);
  });
});
