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
afterAll(() => fixture.close());

/** Orders with committed monthly payments, and the number of others. */
const plans = [
  ['store_a', { commitment: true }, 11],
  ['store_b', { installments: 3 }, 2],
] as const satisfies readonly (readonly [Platform, object, number])[];
const month = { advance: 'P1M' };

/** Buys and validates a plan whose payments the store collects on time. */
async function givenPlan(platform: Platform, order: object) {
  const keys = await fixture.createNotifiedApp(platform);
  const { id, validate } = await fixture.callControl('/purchases', {
    ...{ platform, productId: createUniqueName('plan'), type: 'paid subscription', period: 'P1M' },
    ...{ applicationUsername: createUniqueName('user'), autoRenew: true, acknowledged: true, ...order },
  });
  await fixture.validate(keys, validate);
  const purchaseId = `${platform}:${id}`;
  const fetchPurchase = async () => await fixture.fetchPurchase(keys, purchaseId);
  const perform = async (path: string, body: object = {}) => {
    await fixture.callControl(path, body);
    await fixture.processNotifications();
    return await fetchPurchase();
  };
  return {
    perform,
    fetchPurchase,
    act: async (action: string) => await perform(`/purchases/${id}/${action}`),
    refresh: async () => await refreshPurchase(getService(), { appName: keys.appName, purchaseId }),
    listPayments: async () => await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId]),
  };
}

describe.each(plans)('a canceled plan with committed payments (%s)', (platform, order, further) => {
  it('receives its payments and gives access until the commitment ends, with one announcement of the lapse', async () => {
    const { act, perform, listPayments } = await givenPlan(platform, order);
    expect(await act('cancel')).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    for (let paid = 0; paid < further; paid++)
      expect(await perform('/clock', month)).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    const ended = await perform('/clock', month);
    expect(ended).toMatchObject({ isExpired: true, cancelationReason: 'Customer' });
    expect(listReasons(ended)).toEqual(['PURCHASED', 'WILL_LAPSE', ...Array(further).fill('RENEWED'), 'EXPIRED']);
    expect(await listPayments()).toHaveLength(1 + further);
  });

  it('renews after the commitment if the cancelation is withdrawn', async () => {
    const { act, perform } = await givenPlan(platform, order);
    await act('cancel');
    expect(await act('uncancel')).toMatchObject({ isExpired: false, renewalIntent: 'Renew' });
    for (let paid = 0; paid <= further; paid++) await perform('/clock', month);
    expect(await perform('/clock', month)).toMatchObject({ isExpired: false, renewalIntent: 'Renew' });
  });

  it('keeps access during an outage of the store at a committed payment', async () => {
    const { act, refresh, fetchPurchase } = await givenPlan(platform, order);
    await act('cancel');
    await fixture.setNotificationUrl(platform, null);
    await fixture.callControl('/clock', month);
    await fixture.callControl('/faults', { platform, fault: 'down', times: 100 });
    await refresh();
    expect(await fetchPurchase()).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    await fixture.clearFaults();
    await refresh();
    expect(listReasons(await fetchPurchase())).toEqual(['PURCHASED', 'WILL_LAPSE', 'RENEWED']);
  });
});
