import { beforeAll, describe, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import { createOpenIapAdapter } from '../../testing/openiap-adapter.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

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

const service = startBeforeAll(startTestService);
const router = startBeforeAll(async () => await startNotificationRouter(service, ['store_a', 'store_b']));
let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await service.createApp(['store_a', 'store_b']);
  router.routeTo([keys.appName]);
});

describe.each(['Apple', 'Google'] as const)('Server behaviors of OpenIAP at %s', (store) => {
  it.each(behaviorIds)('fulfills lifecycle.%s', async (id) => {
    const { behaviors } = createOpenIapAdapter(store, { service, router, keys });
    await behaviors[`lifecycle.${id}`]?.();
  });
});
