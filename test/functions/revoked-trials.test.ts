import { describe, expect, it } from '@jest/globals';
import type { Platform } from '../../lib/foundation/platform.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { buyValidated } from '../../testing/buy-validated.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { listReasons } from './notification-fixture.ts';

const service = startBeforeAll(startTestService);
const router = startBeforeAll(async () => await startNotificationRouter(service, ['store_a', 'store_b']));

/** Actions that end a free trial. The trials of Stripe and Braintree lack a payment that could be refunded. */
const actions = [
  ['store_a', 'refund'],
  ['store_b', 'revoke'],
  ['store_c', 'refund'],
  ['store_c', 'revoke'],
] as const satisfies readonly (readonly [Platform, string])[];
const observers = ['notifications', 'a refresh', 'a refresh before the notifications'] as const;
const cases = actions.flatMap((action) => observers.map((observer) => [...action, observer] as const));

describe('free trial that a store takes back', () => {
  it.each(sampleItems(cases, 4))(
    'announces REVOKED once, and no refund (%s, %s, %s)',
    async (platform, action, observer) => {
      const keys = await service.createApp([platform]);
      const { appName } = keys;
      router.routeTo([appName]);
      const order = { platform, productId: createUniqueName('trial'), type: 'paid subscription', trial: true };
      const { act, purchaseId } = await buyValidated(service, keys, order);
      await service.callControl('/clock', { advance: 'PT1H' });
      await act(action);
      if (observer !== 'notifications') await refreshPurchase(router.service, { appName, purchaseId });
      if (observer !== 'a refresh') {
        await router.waitUntilPosted();
        await router.poll(appName);
        await router.process(router.take(appName));
      }
      await refreshPurchase(router.service, { appName, purchaseId });
      const query = { include_notifications: 'true' } as const;
      const purchase = (await callWithSecretKey(getPurchase, keys, { params: { purchaseId }, query })).body;
      expect(purchase).toMatchObject({ isExpired: true });
      expect(listReasons(purchase)).toEqual(['PURCHASED', 'REVOKED']);
    },
  );
});
