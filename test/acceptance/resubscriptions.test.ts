import { beforeEach, describe, expect, it } from '@jest/globals';
import { type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { toUtcDay } from '../../lib/money/rates.ts';
import { getStats } from '../../lib/statistics/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { listPurchaseRows } from '../../testing/customer-answers.ts';
import { aggregatePartitions } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { listReasons, startNotificationFixture } from '../functions/notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);
beforeEach(() => fixture.resetStores());

const username = 'subscriber';

/** Two subscriptions of the catalogue's group for each store that does not link purchases. */
const catalogueGroups: ReadonlyArray<readonly [Platform, string, string]> = [
  ['store_b', 'gold', 'silver'],
  ['store_c', '9NBLGGH5G111', '9NBLGGH5S222'],
  ['processor_a', 'basic', 'premium'],
  ['processor_b', 'monthly', 'premium'],
];

const buy = async (order: object) =>
  await fixture.callControl('/purchases', {
    type: 'paid subscription',
    applicationUsername: username,
    acknowledged: true,
    ...order,
  });

async function validate(keys: IssuedApiKeys, evidence: object): Promise<void> {
  expect((await fixture.validate(keys, evidence)).body).toMatchObject({ ok: true });
  await fixture.processNotifications();
}

async function advance(period: string): Promise<void> {
  await fixture.callControl('/clock', { advance: period });
  await fixture.processNotifications();
}

/** Lists the announcements of each purchase of the app, sorted. */
async function listAnnouncements(keys: IssuedApiKeys): Promise<string[]> {
  const listOf = async ({ purchaseId }: Readonly<Record<string, unknown>>) =>
    listReasons(await fixture.fetchPurchase(keys, String(purchaseId))).join(' ');
  return (await Promise.all((await listPurchaseRows(keys)).map(listOf))).toSorted();
}

const readPurchases = async (keys: IssuedApiKeys) =>
  (await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: username } })).body;

/** Expects access to the product, and one renewal in the statistics of the day. */
async function expectRenewed(keys: IssuedApiKeys, productId: string): Promise<void> {
  expect(await readPurchases(keys)).toMatchObject({ purchases: { [productId]: { isExpired: false } } });
  const rows = await listPurchaseRows(keys);
  await aggregatePartitions(rows.map(({ purchaseId }) => purchaseKey.partition(keys.appName, String(purchaseId))));
  const day = toUtcDay(getService().now());
  const query = { include_notifications: 'true', startdate: day, enddate: day };
  const { dailyStats } = (await callWithSecretKey(getStats, keys, { query })).body;
  expect(dailyStats[0].notifications).toMatchObject({ RENEWED: 1 });
}

describe('resubscriptions', () => {
  it('announces another product of the group after the expiration as RENEWED (App Store)', async () => {
    const keys = await fixture.createNotifiedApp('store_a');
    const order = { platform: 'store_a', group: 'plans' };
    await validate(keys, (await buy({ ...order, productId: 'first' })).validate);
    await advance('P2M');
    expect(await listAnnouncements(keys)).toEqual(['PURCHASED EXPIRED']);
    await buy({ ...order, productId: 'next' });
    await fixture.processNotifications();
    expect(await listAnnouncements(keys)).toEqual(['PURCHASED EXPIRED RENEWED']);
    await expectRenewed(keys, 'store_a:next');
  });

  it('announces a linked purchase after the expiration as RENEWED to the owner (Google Play)', async () => {
    // Google Play removes the link when a purchase is acknowledged.
    const keys = await fixture.createNotifiedApp('store_b', { acknowledge: true });
    const { id, validate: evidence } = await buy({ platform: 'store_b', productId: 'plan', acknowledged: false });
    await validate(keys, evidence);
    await advance('P2M');
    await fixture.callControl(`/purchases/${id}/resubscribe`, {});
    await fixture.processNotifications();
    expect(await listAnnouncements(keys)).toEqual(['PURCHASED ACKNOWLEDGED EXPIRED', 'RENEWED ACKNOWLEDGED']);
    await expectRenewed(keys, 'store_b:plan');
  });

  it.each(catalogueGroups)(
    'announces another product of the catalogue group after the expiration as RENEWED (%s)',
    async (platform, first, next) => {
      const keys = await fixture.createNotifiedApp(platform);
      const product = { type: 'paid subscription', group: 'plans', entitlements: [] } as const;
      await saveCatalogue(getService(), keys.appName, { [first]: product, [next]: product });
      await validate(keys, (await buy({ platform, productId: first })).validate);
      await advance('P2M');
      await validate(keys, (await buy({ platform, productId: next })).validate);
      const [expired, renewed] = await listAnnouncements(keys);
      expect(expired).toMatch(/^PURCHASED/);
      expect(renewed).toMatch(/^RENEWED/);
      await expectRenewed(keys, `${platform}:${next}`);
    },
  );
});

describe('price increases of the App Store', () => {
  it('announces a pending and an accepted price increase', async () => {
    const keys = await fixture.createNotifiedApp('store_a');
    const { id, validate: evidence } = await buy({ platform: 'store_a', productId: 'plan' });
    await validate(keys, evidence);
    for (const [action, status, reasons] of [
      ['raise-price', 'Notified', 'PURCHASED PRICE_CHANGE_UPDATED'],
      ['accept-price', 'Agreed', 'PURCHASED PRICE_CHANGE_UPDATED PRICE_CHANGE_CONFIRMED'],
    ]) {
      await fixture.callControl(`/purchases/${id}/${action}`, {});
      await fixture.processNotifications();
      expect(await listAnnouncements(keys)).toEqual([reasons]);
      expect(await readPurchases(keys)).toMatchObject({
        purchases: { 'store_a:plan': { priceConsentStatus: status } },
      });
    }
  });
});

describe('a declined renewal that Google Play does not report for a day', () => {
  it('keeps access until Google Play reports the grace period', async () => {
    const keys = await fixture.createNotifiedApp('store_b');
    const { id, validate: evidence } = await buy({ platform: 'store_b', productId: 'plan', period: 'P1W' });
    await validate(keys, evidence);
    await fixture.callControl(`/purchases/${id}/fail-payment`, { silent: true });
    await advance('P7DT1H');
    await validate(keys, evidence);
    expect(await listAnnouncements(keys)).toEqual(['PURCHASED']);
    expect(await readPurchases(keys)).toMatchObject({
      purchases: { 'store_b:plan': { isExpired: false, isBillingRetryPeriod: false } },
    });
    await advance('P1D');
    expect(await listAnnouncements(keys)).toEqual(['PURCHASED ENTERED_GRACE_PERIOD']);
    await fixture.callControl(`/purchases/${id}/recover`, {});
    await fixture.processNotifications();
    expect(await listAnnouncements(keys)).toEqual(['PURCHASED ENTERED_GRACE_PERIOD RENEWED']);
  });
});
