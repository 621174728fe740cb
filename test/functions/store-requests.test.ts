import { describe, expect, it } from '@jest/globals';
import type { WebhookEvent } from '../../lib/api/schemas.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerTimeline } from '../../lib/customers/contract.ts';
import { listEvents } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { getPurchaseTimeline } from '../../lib/purchases/timeline-contract.ts';
import { listDueItems } from '../../lib/refresh/due-item-table.ts';
import { saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { sendWebhook } from '../../lib/webhooks/send-webhook.ts';
import { startApplicationServer } from '../../testing/application-server.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import { processNotifications } from '../../testing/refund-requests.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(async () => await startTestService('claimcheck-test-store-requests'));
const router = startBeforeAll(async () => await startNotificationRouter(service, ['store_a']));
const server = startBeforeAll(startApplicationServer);
let keys: IssuedApiKeys;

/** Buys a subscription as the only customer of an app, with these further webhooks, and returns its ids. */
async function givenSubscription(events: WebhookEvent[], order: object = {}, sandboxUrls: string[] = []) {
  keys = await service.createApp(['store_a']);
  router.routeTo([keys.appName]);
  const settings = { urls: [server.url], sandboxUrls, includesPassword: false, events };
  await saveWebhook(getService(), keys.appName, settings, { newSecret: false });
  const purchase = {
    platform: 'store_a',
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername: `of-${keys.appName}`,
  };
  const bought = await service.callControl('/purchases', { ...purchase, ...order });
  await service.validate(keys, bought.validate);
  await processNotifications(router, keys);
  return { ...bought, purchaseId: `store_a:${bought.id}`, username: purchase.applicationUsername };
}

async function act(id: string, action: string, details: object = {}) {
  await service.callControl(`/purchases/${id}/${action}`, details);
  await processNotifications(router, keys);
}

/** Sends the due deliveries of the app, and returns the bodies that its server received. */
async function sendDueWebhooks(): Promise<Record<string, unknown>[]> {
  server.requests.length = 0;
  const due = await listDueItems(getService(), getService().now(), 400);
  for (const item of due)
    if (item.kind === 'delivery' && item.appName === keys.appName)
      await sendWebhook(getService(), { appName: item.appName, deliveryId: item.deliveryId });
  return server.requests.map(({ body }) => JSON.parse(String(body)));
}

/** Returns the rows of store notifications in the events of the app. */
async function listTypes(): Promise<unknown[]> {
  const { body } = await callWithSecretKey(listEvents, keys, { query: { limit: '50' } });
  return body.rows
    .filter(({ context }: { context: { eventType: string } }) => context.eventType === 'webhook.store_a.called')
    .flatMap(({ content }: { content: { notifications: { type?: string }[] } }) =>
      content.notifications.flatMap(({ type }) => type ?? []),
    );
}

describe('store notifications that the app must act on', () => {
  it('sends a webhook to the customer of a rescinded consent', async () => {
    const { id, purchaseId, username, appTransactionId } = await givenSubscription(['consents']);
    await act(id, 'rescind-consent');
    const [body, ...others] = await sendDueWebhooks();
    expect(others).toEqual([]);
    expect(body).toEqual({
      type: 'consent.rescinded',
      storeRequest: {
        platform: 'store_a',
        notificationType: 'RESCIND_CONSENT',
        isSandbox: false,
        appTransactionId,
        date: expect.any(String),
      },
      applicationUsername: username,
    });
    const params = { purchaseId, applicationUsername: username };
    for (const timeline of [getPurchaseTimeline, getCustomerTimeline]) {
      const { rows } = (await callWithSecretKey(timeline, keys, { params })).body;
      expect(rows).toContainEqual(expect.objectContaining({ notificationType: 'RESCIND_CONSENT', ok: true }));
    }
  });

  it('sends no second webhook for a repeated notification', async () => {
    const { id } = await givenSubscription(['consents']);
    await service.callControl(`/purchases/${id}/rescind-consent`, {});
    await router.waitUntilPosted();
    const notifications = router.take(keys.appName);
    await router.process([...notifications, ...notifications]);
    expect(await sendDueWebhooks()).toHaveLength(1);
    await router.process(notifications);
    expect(await sendDueWebhooks()).toHaveLength(0);
  });

  it('sends a rescinded consent of the sandbox to the sandbox URL', async () => {
    const { id } = await givenSubscription(['consents'], { sandbox: true }, [`${server.url}/sandbox`]);
    await act(id, 'rescind-consent');
    expect(await sendDueWebhooks()).toMatchObject([{ storeRequest: { isSandbox: true } }]);
    expect(server.requests[0]?.path).toBe('/sandbox');
  });

  it.each(['UNREPORTED', 'CREATED', 'ACTIVE_TOKEN_REMINDER'])(
    'sends a webhook for an external purchase token, %s',
    async (reason) => {
      const { id } = await givenSubscription(['external-purchases']);
      await act(id, 'external-purchase-token', { reason });
      expect(await sendDueWebhooks()).toEqual([
        {
          type: 'external-purchase.token',
          storeRequest: {
            platform: 'store_a',
            notificationType: `EXTERNAL_PURCHASE_TOKEN.${reason}`,
            isSandbox: false,
            externalPurchaseId: expect.any(String),
            tokenCreatedAt: expect.any(String),
            date: expect.any(String),
          },
        },
      ]);
      expect(await listTypes()).toContain(`EXTERNAL_PURCHASE_TOKEN.${reason}`);
    },
  );

  it.each(['rescind-consent', 'external-purchase-token'])('sends no webhook for %s unless it is on', async (action) => {
    const { id } = await givenSubscription(['refunds']);
    await act(id, action);
    expect(await sendDueWebhooks()).toEqual([]);
  });
});

describe('store notification with its own type', () => {
  it.each([
    ['request-refund', 'CONSUMPTION_REQUEST'],
    ['request-refund decline-refund', 'REFUND_DECLINED'],
    ['refund reverse-refund', 'REFUND_REVERSED'],
    ['extend', 'RENEWAL_EXTENDED'],
    ['update-metadata', 'METADATA_UPDATE'],
    ['migrate', 'MIGRATION'],
    ['change-price', 'PRICE_CHANGE'],
    ['raise-price', 'PRICE_INCREASE.PENDING'],
    ['raise-price accept-price', 'PRICE_INCREASE.ACCEPTED'],
  ])('lists %s as %s in the timeline of the purchase', async (actions, type) => {
    const { id, purchaseId } = await givenSubscription([]);
    for (const action of actions.split(' ')) await act(id, action);
    const { rows } = (await callWithSecretKey(getPurchaseTimeline, keys, { params: { purchaseId } })).body;
    expect(rows.map(({ notificationType }: { notificationType?: string }) => notificationType)).toContain(type);
  });

  it('appears with the summary and the failures of an extension of all subscriptions', async () => {
    const { id, username } = await givenSubscription([], { productId: 'of-extension' });
    const order = {
      platform: 'store_a',
      productId: 'of-extension',
      type: 'paid subscription',
      applicationUsername: `${username}-2`,
    };
    const failing = await service.callControl('/purchases', order);
    await service.callControl(`/purchases/${failing.id}/fail-payment`, {});
    await act(id, 'extend-all');
    const types = await listTypes();
    for (const type of ['RENEWAL_EXTENDED', 'RENEWAL_EXTENSION.FAILURE', 'RENEWAL_EXTENSION.SUMMARY'])
      expect(types).toContain(type);
  });
});
