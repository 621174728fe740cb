import { afterAll, beforeAll, describe, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import { createOpenIapAdapter } from '../../testing/openiap-adapter.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

/** The server behaviors of openiap-conformance 2.0.0. */
const behaviorIds = [
  'purchase-starts-active-entitlement',
  'expiry-ends-entitlement',
  'grace-period-retains-entitlement',
  'billing-retry-suspends-entitlement',
  'refund-ends-entitlement',
  'revoke-ends-entitlement',
  'cancel-retains-entitlement-until-expiry',
] as const;

let service: TestService;
let router: NotificationRouter;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  router = await startNotificationRouter(service, ['store_a', 'store_b']);
  keys = await service.createApp(['store_a', 'store_b']);
  router.routeTo([keys.appName]);
});
afterAll(async () => {
  await router.close();
  await service.close();
});

describe.each(['Apple', 'Google'] as const)('Server behaviors of OpenIAP at %s', (store) => {
  it.each(behaviorIds)('fulfills lifecycle.%s', async (id) => {
    const { behaviors } = createOpenIapAdapter(store, { service, router, keys });
    await behaviors[`lifecycle.${id}`]?.();
  });
});
