import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setStoreSettings } from '../../lib/apps/app-table.ts';
import { getService } from '../../lib/foundation/container.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { createUniqueName } from '../../testing/given.ts';
import { listReasons, type NotificationFixture, startNotificationFixture } from './notification-fixture.ts';

let fixture: NotificationFixture;
beforeAll(async () => {
  fixture = await startNotificationFixture();
});
afterAll(() => fixture.close());

/** Replaces the key with one that the store rejects, like the key of the former account. */
// biome-ignore lint/suspicious/noExplicitAny: each store has other settings.
const withFormerKey = (platform: 'store_a' | 'store_b', settings: any): object =>
  platform === 'store_a'
    ? { ...settings, keyId: 'FORMER1234' }
    : { ...settings, serviceAccount: { ...settings.serviceAccount, client_email: 'former@example.com' } };

it.each(['store_a', 'store_b'] as const)(
  'keeps access of an app that moved to another developer account until the app has new credentials (%s)',
  async (platform) => {
    const keys = await fixture.createNotifiedApp(platform);
    const { id, validate } = await fixture.callControl('/purchases', {
      ...{ platform, productId: createUniqueName('plan'), type: 'paid subscription', period: 'P1M' },
      ...{ applicationUsername: createUniqueName('user'), autoRenew: true, acknowledged: true },
    });
    await fixture.validate(keys, validate);
    const purchaseId = `${platform}:${id}`;
    const refresh = async () => await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const settings = await fixture.callControl(`/settings/${platform}`);
    await setStoreSettings(getService(), keys.appName, platform, withFormerKey(platform, settings));
    await fixture.setNotificationUrl(platform, null);
    await fixture.callControl('/clock', { advance: 'P1M' });
    expect(await refresh()).toBe(false);
    expect(await fixture.fetchPurchase(keys, purchaseId)).toMatchObject({ isExpired: false });
    await setStoreSettings(getService(), keys.appName, platform, settings);
    // Settings are cached for seconds.
    await fixture.callControl('/clock', { advance: 'PT1M' });
    expect(await refresh()).toBe(true);
    const moved = await fixture.fetchPurchase(keys, purchaseId);
    expect(moved).toMatchObject({ purchaseId, isExpired: false, renewalIntent: 'Renew' });
    expect(listReasons(moved)).toEqual(['PURCHASED', 'RENEWED']);
  },
);
