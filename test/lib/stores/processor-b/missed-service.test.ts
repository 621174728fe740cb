import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getPurchase } from '../../../../lib/api/purchases.ts';
import { deps } from '../../../../lib/deps.ts';
import { reconcile } from '../../../../lib/incoming/reconcile.ts';
import { basic, call } from '../../../support/call.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { startWorkQueues, type WorkQueues } from '../../../support/work-queues.ts';

let service: TestService;
let queues: WorkQueues;
beforeAll(async () => {
  service = await startTestService();
  queues = await startWorkQueues();
});
afterAll(async () => {
  await queues.close();
  await service.close();
});

it.each([
  ['subscription', { type: 'paid subscription', productId: 'monthly' }, true],
  ['consumable', { type: 'consumable', productId: 'coins' }, false],
])('a refund of a %s in the Control Panel is found and told of once', async (_what, order, isExpired) => {
  const { id, validate } = await service.control('/purchases', {
    platform: 'processor_b',
    applicationUsername: 'ann',
    ...order,
  });
  const { app, publicKey, secretKey } = await service.app(['processor_b']);
  const { body } = await service.validate({ app, publicKey, secretKey }, validate);
  expect(body).toMatchObject({ ok: true });
  await service.control('/clock', { advance: 'P2D' });
  await service.control(`/purchases/${id}/refund`, {});
  const { apps } = deps();
  const list = async () => (await apps.list()).filter(({ name }) => name === app);
  for (let look = 0; look < 2; look++) {
    await reconcile({ ...deps(), apps: { ...apps, list } }, () => 900_000);
    await queues.drain();
  }
  const params = { purchaseId: `processor_b:${body.data.collection[0].purchaseId}` };
  const query = { include_notifications: 'true' };
  const { body: purchase } = await call(getPurchase, { headers: basic(app, secretKey), params, query });
  expect(purchase.notifications.map(({ reason }: { reason: string }) => reason)).toEqual(['PURCHASED', 'REFUNDED']);
  expect(purchase).toMatchObject({ cancelationReason: 'Customer', ...(isExpired && { isExpired }) });
});
