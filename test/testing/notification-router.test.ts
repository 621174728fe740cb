import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let router: NotificationRouter;
beforeAll(async () => {
  service = await startTestService();
  router = await startNotificationRouter(service, ['store_a']);
});
afterAll(async () => {
  await router.close();
  await service.close();
});

const buy = async (productId: string) =>
  await service.callControl('/purchases', { platform: 'store_a', productId, type: 'paid subscription' });

describe('clock of a service with a notification router', () => {
  it('moves after the router has passed on what the stores posted', async () => {
    const { appName } = await service.createApp(['store_a']);
    router.routeTo([appName]);
    await Promise.all(['gold', 'silver', 'bronze'].map(buy));
    await service.callControl('/clock', { advance: 'P1D' });
    expect(router.take(appName)).toHaveLength(3);
    await router.waitUntilPosted();
  });

  it('does not wait for a notification that the test delays or holds', async () => {
    const { appName } = await service.createApp(['store_a']);
    router.routeTo([appName]);
    await service.callControl('/notifications', { platform: 'store_a', next: 1, delayed: 'P2D' });
    await buy('delayed');
    await service.callControl('/notifications', { platform: 'store_a', next: 1, held: true });
    await buy('held');
    await service.callControl('/clock', { advance: 'P1D' });
    expect(router.take(appName)).toEqual([]);
  });
});
