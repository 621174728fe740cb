import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/container.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { createUniqueName } from '../../testing/given.ts';
import { listReasons, type NotificationFixture, startNotificationFixture } from './notification-fixture.ts';

let fixture: NotificationFixture;
beforeAll(async () => {
  fixture = await startNotificationFixture();
});
afterAll(async () => {
  await fixture.close();
});

/** The new product costs more, so that the stores change the plan in the middle of the period. */
const upgrades: ReadonlyArray<readonly [Platform, string]> = [
  ['store_a', createUniqueName('plan')],
  ['processor_a', 'premium'],
];

describe('lastRenewalDate', () => {
  it.each(upgrades)('does not change with an upgrade in the middle of a period (%s)', async (platform, productId) => {
    const { keys, purchaseId, act } = await fixture.givenSubscription(platform);
    const upgrade = { productId, priceMicros: 99_990_000 };
    const changed = await act('change-plan', upgrade);
    expect(changed).toMatchObject({ productId: `${platform}:${productId}`, isExpired: false });
    expect(changed).not.toHaveProperty('lastRenewalDate');
    const { lastRenewalDate } = await act('renew');
    expect(Date.parse(lastRenewalDate)).not.toBeNaN();
    await fixture.callControl('/clock', { advance: 'P35D' });
    const next = {
      productId: platform === 'processor_a' ? 'basic' : createUniqueName('plan'),
      priceMicros: 199_990_000,
    };
    const changedAgain = await act('change-plan', next);
    expect(changedAgain).toMatchObject({ productId: `${platform}:${next.productId}`, lastRenewalDate });
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const refreshed = await fixture.fetchPurchase(keys, purchaseId);
    expect(refreshed).toMatchObject({ productId: `${platform}:${next.productId}`, lastRenewalDate });
    // Each upgrade has its own payment.
    expect(await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId])).toHaveLength(4);
    expect(listReasons(refreshed)).toEqual(['PURCHASED', 'PLAN_CHANGED', 'RENEWED', 'PLAN_CHANGED']);
  });
});
