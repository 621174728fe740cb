import { describe, expect, it } from '@jest/globals';
import { getApp } from '../../../../lib/apps/manage-apps.ts';
import { listEvents } from '../../../../lib/events/event-list-table.ts';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { getService } from '../../../../lib/foundation/get-service.ts';
import { getPurchase } from '../../../../lib/purchases/contract.ts';
import { listTransactionsOfPurchases } from '../../../../lib/purchases/purchase-table.ts';
import type { QueuedNotification } from '../../../../lib/store-notifications/queued-notification.ts';
import { recoverUndelivered } from '../../../../lib/store-notifications/recover-notifications.ts';
import { buildBasicAuth, callEndpoint } from '../../../../testing/call.ts';
import { startTestService } from '../../../../testing/service.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startWorkQueues } from '../../../../testing/work-queues.ts';

const service = startBeforeAll(startTestService);
const queues = startBeforeAll(startWorkQueues);

describe('recoverUndelivered (Braintree)', () => {
  it.each([
    ['subscription', { type: 'paid subscription', productId: 'monthly' }, true],
    ['consumable', { type: 'consumable', productId: 'coins' }, false],
  ])('announces a refund of a %s in the Control Panel once', async (_type, order, isExpired) => {
    const { id, validate } = await service.callControl('/purchases', {
      platform: 'processor_b',
      applicationUsername: 'ann',
      ...order,
    });
    const { appName, publicKey, secretKey } = await service.createApp(['processor_b']);
    const { body } = await service.validate({ appName, publicKey, secretKey }, validate);
    expect(body).toMatchObject({ ok: true });
    await service.callControl('/clock', { advance: 'P2D' });
    await service.callControl(`/purchases/${id}/refund`, {});

    const app = await getApp(getService(), appName);
    for (let run = 0; run < 2; run++) {
      await recoverUndelivered(getService(), [app], () => 900_000);
      await queues.drain();
    }
    const params = { purchaseId: `processor_b:${body.data.collection[0].purchaseId}` };
    const query = { include_notifications: 'true' };
    const { body: purchase } = await callEndpoint(getPurchase, {
      headers: buildBasicAuth(appName, secretKey),
      params,
      query,
    });
    expect(purchase.notifications.map(({ reason }: { reason: string }) => reason)).toEqual(['PURCHASED', 'REFUNDED']);
    expect(purchase).toMatchObject({ cancelationReason: 'Customer', ...(isExpired && { isExpired }) });
  });

  it.each([
    ['subscription', { type: 'paid subscription', productId: 'monthly' }],
    ['consumable', { type: 'consumable', productId: 'coins', priceMicros: 9_990_000 }],
  ])('announces a partial refund of a %s and keeps the purchase', async (_type, order) => {
    const { id, validate } = await service.callControl('/purchases', {
      platform: 'processor_b',
      applicationUsername: 'ann',
      ...order,
    });
    const keys = await service.createApp(['processor_b']);
    const { body } = await service.validate(keys, validate);
    const params = { purchaseId: `processor_b:${body.data.collection[0].purchaseId}` };
    await service.callControl(`/purchases/${id}/refund`, { amountMicros: 4_000_000 });

    const app = await getApp(getService(), keys.appName);
    await recoverUndelivered(getService(), [app], () => 900_000);
    await queues.drain();
    const { body: purchase } = await callEndpoint(getPurchase, {
      headers: buildBasicAuth(keys.appName, keys.secretKey),
      params,
      query: { include_notifications: 'true' },
    });
    expect(purchase.notifications.map(({ reason }: { reason: string }) => reason)).toEqual(['PURCHASED', 'REFUNDED']);
    expect(purchase).toMatchObject({ amountMicros: 9_990_000, entitledUsers: ['ann'] });
    expect(purchase.isExpired ?? false).toBe(false);
    expect(purchase).not.toHaveProperty('cancelationReason');
    const [transaction] = await listTransactionsOfPurchases(getService(), keys.appName, [params.purchaseId]);
    expect(transaction).toMatchObject({ partialRefunds: [{ amountMicros: 4_000_000, date: expect.any(Number) }] });
    expect(transaction).not.toHaveProperty('refundedAt');
  });

  it('enqueues a notification at most every six hours and under the same event', async () => {
    const order = { platform: 'processor_b', productId: 'coins', type: 'consumable', applicationUsername: 'ann' };
    const { id, validate } = await service.callControl('/purchases', order);
    const keys = await service.createApp(['processor_b']);
    await service.validate(keys, validate);
    await service.callControl(`/purchases/${id}/refund`, {});

    const app = await getApp(getService(), keys.appName);
    const sent: QueuedNotification[] = [];
    let isDown = true;
    const send = async (messages: readonly object[]) => {
      if (isDown) throw new ServiceError('ConnectionFailed', 'The queue is unavailable.');
      sent.push(...(messages as readonly QueuedNotification[]));
    };
    const recover = async () =>
      await recoverUndelivered({ ...getService(), notificationQueue: { send } }, [app], () => 900_000);
    await recover();
    isDown = false;
    await recover();
    // The search returns the reversals of all payments of the merchant.
    const sentCount = sent.length;
    expect(sentCount).toBeGreaterThan(0);
    await recover();
    expect(sent).toHaveLength(sentCount);
    const listRecoveryEvents = async () =>
      (await listEvents(getService(), keys.appName, { limit: 50, skip: 0 })).filter(
        ({ type, outcome }) => type === 'notifications.reconciled' && outcome.ok,
      );
    expect(await listRecoveryEvents()).toHaveLength(1);
    await service.callControl('/clock', { advance: 'PT7H' });
    await recover();
    await recover();
    expect(sent).toHaveLength(2 * sentCount);
    expect(new Set(sent.map(({ eventId, receivedAt }) => `${eventId} ${receivedAt}`)).size).toBe(sentCount);
  });
});
