import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addPeriod } from '../../emulator/calendar.ts';
import { getService } from '../../lib/foundation/container.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { dayMs, hourMs } from '../../lib/foundation/time.ts';
import { toUtcDay } from '../../lib/money/daily-rates.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { type DailyStat, getStats } from '../../lib/statistics/contract.ts';
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

const euros = { currency: 'EUR', priceMicros: 10_000_000 };
const dollars = { currency: 'USD', priceMicros: 12_000_000 };

/** Buys a subscription for euros, which renews for dollars. */
async function givenChangedCurrency(platform: Platform) {
  const order = { platform, productId: 'converted', type: 'paid subscription', ...euros };
  const { id, validate } = await fixture.callControl('/purchases', {
    ...order,
    applicationUsername: createUniqueName('user'),
  });
  const keys = await fixture.createNotifiedApp(platform, platform === 'store_b' ? { acknowledge: true } : {});
  const { body } = await fixture.validate(keys, validate);
  if (!body.ok) throw new Error(body.message);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  const renewsAt = addPeriod(getService().now(), 'P1M') - hourMs;
  await fixture.callControl('/clock', { set: new Date(renewsAt).toISOString() });
  await fixture.callControl(`/purchases/${id}/renew`, platform === 'store_c' ? {} : dollars);
  await fixture.processNotifications();
  await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
  // Only the client of the Microsoft Store reports the price.
  if (platform === 'store_c') {
    const { validate: current } = await fixture.callControl(`/purchases/${id}`);
    await fixture.validate(keys, { ...current, ...dollars });
  }
  await aggregatePartitions([purchaseKey.partition(keys.appName, purchaseId)]);
  // Figures end today, in the second period.
  await fixture.callControl('/clock', { advance: 'P20D' });
  return keys;
}

/** Stripe does not change the currency of a subscription. */
describe('a subscription whose currency changes at a renewal', () => {
  it.each(['store_a', 'store_b', 'store_c', 'processor_b'] as const)(
    'counts each payment of %s in its currency, and the difference as a movement of the recurring revenue',
    async (platform) => {
      const keys = await givenChangedCurrency(platform);
      const { rows } = (await callWithSecretKey(listTransactions, keys, { query: {} })).body;
      const [first, second] = rows;
      expect(first).toMatchObject({ currency: 'EUR', amountMicros: 10_000_000, amountUSD: expect.any(Number) });
      expect(second).toMatchObject({ currency: 'USD', amountMicros: 12_000_000, amountUSD: 12 });
      expect(rows).toHaveLength(2);
      const [startdate, enddate] = [-60, 0].map((days) => toUtcDay(getService().now() + days * dayMs)) as [
        string,
        string,
      ];
      const query = { startdate, enddate, sandbox: String(platform === 'processor_b') };
      const days: readonly DailyStat[] = (await callWithSecretKey(getStats, keys, { query })).body.dailyStats;
      const sumDays = (read: (day: DailyStat) => number) => days.reduce((sum, day) => sum + read(day), 0);
      expect({
        euros: sumDays(({ amountMicros }) => amountMicros.EUR ?? 0),
        dollars: sumDays(({ amountMicros }) => amountMicros.USD ?? 0),
        amountUSD: sumDays(({ amountUSD }) => amountUSD),
      }).toEqual({ euros: 10_000_000, dollars: 12_000_000, amountUSD: expect.closeTo(first.amountUSD + 12, 6) });
      const options = { ...query, interval: 'range', amount: 'before_refunds' };
      const { body } = await callWithSecretKey(getMrr, keys, { query: options });
      const change = 12 - first.amountUSD;
      expect(body.rows).toMatchObject([
        {
          mrrUSD: 12,
          movement: {
            new: expect.closeTo(first.amountUSD, 6),
            expansion: expect.closeTo(Math.max(0, change), 6),
            contraction: expect.closeTo(Math.max(0, -change), 6),
            churned: 0,
          },
        },
      ]);
    },
  );
});
