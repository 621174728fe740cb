import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { getStoreKeys } from '../../testing/run-keys.ts';
import { createEmulator } from '../create-emulator.ts';
import { createSchedule } from '../run-due.ts';
import { createEmulatorServer } from '../server.ts';
import { createFixedClock } from './emulator-client.ts';

/** Sends the calls one after the other. Returns how often each store looked for due transitions. */
async function countLooks(calls: readonly string[]): Promise<number[]> {
  const changes = { onChange: () => {} };
  const emulator = await createEmulator({ clock: createFixedClock(), changes, keys: getStoreKeys() });
  const looks = emulator.stores.map(() => 0);
  const stores = emulator.stores.map((store, index) => ({
    ...store,
    advanceTo: (time: number) => {
      looks[index] = (looks[index] ?? 0) + 1;
      return store.advanceTo(time);
    },
  }));
  const counting = { ...emulator, stores };
  const server = createEmulatorServer(
    () => counting,
    () => {},
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const call of calls) {
    const [method = '', path] = call.split(' ');
    await fetch(`http://127.0.0.1:${port}${path}`, { method });
  }
  server.close();
  return [...new Set(looks)];
}

describe('createSchedule', () => {
  it('returns the time of the next transition after one look at the items', () => {
    let looks = 0;
    const items = [{ at: 30 }, { at: 20 }, {}];
    const schedule = createSchedule<{ at?: number }>({
      items: () => {
        looks += 1;
        return items;
      },
      dueAt: ({ at }) => at,
      run: (item, at) => {
        item.at = at + 100;
      },
    });
    expect([schedule.advanceTo(10), looks]).toEqual([20, 1]);
    expect([schedule.advanceTo(25), looks]).toEqual([30, 3]);
  });
});

describe('the emulator before the next transition', () => {
  const read = 'GET /api.storekit.apple.com/inApps/v1/transactions/1';

  it.each([
    read,
    'POST /buy.itunes.apple.com/verifyReceipt',
    'POST /sandbox.itunes.apple.com/verifyReceipt',
    'POST /api.storekit.apple.com/inApps/v1/notifications/history',
    'POST /oauth2.googleapis.com/token',
    'POST /login.microsoftonline.com/tenant/oauth2/token',
    'POST /collections.mp.microsoft.com/v6.0/collections/query',
    'POST /collections.mp.microsoft.com/V9.0/Collections/PublisherQuery',
    'POST /purchase.mp.microsoft.com/v8.0/b2b/recurrences/query',
    'POST /purchase.mp.microsoft.com/v8.0/b2b/orders/query',
    'POST /api.braintreegateway.com/merchants/merchant/transactions/advanced_search_ids',
    'POST /api.braintreegateway.com/merchants/merchant/client_token',
  ])('does not look for due transitions after %s', async (call) => {
    expect(await countLooks([read, call, call, read])).toEqual([1]);
  });

  it.each([
    'POST /api.storekit.apple.com/inApps/v1/notifications/test',
    'POST /androidpublisher.googleapis.com/androidpublisher/v3/applications/app/purchases/tokens/token:consume',
    'POST /collections.mp.microsoft.com/v8.0/collections/consume',
    'POST /purchase.mp.microsoft.com/v8.0/b2b/recurrences/id/change',
    'POST /api.stripe.com/v1/customers',
    'POST /api.braintreegateway.com/merchants/merchant/transactions',
    'PUT /api.braintreegateway.com/merchants/merchant/subscriptions/id/cancel',
    'POST /control/purchases',
  ])('looks for due transitions after %s', async (call) => {
    expect(await countLooks([read, call, read])).toEqual([2]);
  });
});
