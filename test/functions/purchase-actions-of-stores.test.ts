import { describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { refreshPurchase } from '../../lib/purchases/contract.ts';
import { listAnnouncements, listTransactionsOfPurchases } from '../../lib/purchases/purchase-table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import { type BoughtPurchase, buyForActions } from '../../testing/purchase-actions.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { findEvents } from './event-fixture.ts';

const service = startBeforeAll(startTestService);
const router = startBeforeAll(
  async () => await startNotificationRouter(service, ['store_a', 'store_b', 'processor_a', 'processor_b']),
);

const idempotencyKey = 'attempt-1';

interface ActionEvent {
  readonly content: { readonly tags: object };
  readonly context: { readonly eventType: string; readonly key: { readonly level: string } };
}

/** Lists the events of the performed actions. A rejected request has an event with the tag `error`. */
const findActions = async ({ keys, purchaseId }: BoughtPurchase): Promise<ActionEvent[]> =>
  (await findEvents(keys, purchaseId)).filter(
    ({ content, context }: ActionEvent) => context.eventType === 'purchase.acted' && !('error' in content.tags),
  );

const listReasons = async ({ keys, purchaseId }: BoughtPurchase) =>
  (await listAnnouncements(getService(), keys.appName, purchaseId)).map(({ reason }) => reason);

/** Buys for an app that receives the notifications of the store, and processes the ones about the purchase. */
async function buy(platform: Platform, order: object = {}): Promise<BoughtPurchase> {
  const bought = await buyForActions(service, platform, order);
  router.routeTo([bought.keys.appName]);
  return bought;
}

const actions: readonly (readonly [Platform, string, object, string])[] = [
  ['store_a', 'extend', { days: 7 }, 'EXTENDED'],
  ['store_b', 'defer', { days: 7 }, 'EXTENDED'],
  ['store_b', 'cancel', {}, 'WILL_LAPSE'],
  ['store_b', 'revoke', {}, 'REVOKED'],
  ['processor_a', 'extend', { days: 7 }, 'EXTENDED'],
  ['processor_a', 'cancel', {}, 'WILL_LAPSE'],
  ['processor_a', 'refund', {}, 'REFUNDED'],
  ['processor_b', 'cancel', {}, 'WILL_LAPSE'],
];

describe('POST /v3/purchases/:purchaseId/actions at the same time as notifications', () => {
  it.each(sampleItems(actions, 3))(
    'makes one change and one event: %s %s',
    async (platform, action, details, reason) => {
      const bought = await buy(platform);
      const { appName } = bought.keys;
      const request = { action, ...details, idempotencyKey };
      const responses = await Promise.all([bought.act(request), bought.act(request)]);
      await router.waitUntilPosted();
      const inFlight = router.take(appName);
      expect(inFlight.length).toBeGreaterThan(0);
      await Promise.all([router.process(inFlight), bought.act(request).then((response) => responses.push(response))]);
      // Stores repeat notifications.
      await router.process(inFlight);
      expect(responses.map(({ status, body }) => [status, body.performedAt])).toEqual(
        responses.map(() => [200, responses[0]?.body.performedAt]),
      );
      const reasons = await listReasons(bought);
      expect(reasons.filter((name) => name === reason)).toHaveLength(1);
      expect(new Set(reasons).size).toBe(reasons.length);
      expect(await findActions(bought)).toHaveLength(1);
    },
  );
});

describe('POST /v3/purchases/:purchaseId/actions at the Microsoft Store', () => {
  it.each([7, 30, 60])(
    'extends the period by %d days without a payment, also before the next renewal',
    async (days) => {
      const bought = await buy('store_c');
      const { keys, purchaseId } = bought;
      const listPayments = async () =>
        (await listTransactionsOfPurchases(getService(), keys.appName, [purchaseId])).map(
          (payment) => payment.transactionId,
        );
      const before = await listPayments();
      await bought.act({ action: 'extend', days, idempotencyKey });
      expect(await listPayments()).toEqual(before);
      expect(await listReasons(bought)).toEqual(expect.arrayContaining(['EXTENDED']));
      expect(await listReasons(bought)).not.toContain('RENEWED');
      const refresh = async () => await callWithSecretKey(refreshPurchase, keys, { params: { purchaseId }, body: {} });
      await refresh();
      expect(await listPayments()).toEqual(before);
      await bought.control('renew');
      await refresh();
      expect(await listPayments()).toHaveLength(before.length + 1);
      expect((await listReasons(bought)).filter((reason) => reason === 'RENEWED')).toHaveLength(1);
    },
  );
});

describe('POST /v3/purchases/:purchaseId/actions for a purchase that has changed at the store', () => {
  it.each([
    ['store_b', 'refund', 'revoke'],
    ['store_c', 'refund', 'refund'],
    ['processor_a', 'refund', 'refund'],
    ['processor_b', 'cancel', 'cancel'],
  ] as const)('rejects the action with the reason, each time: %s %s', async (platform, action, earlier) => {
    const bought = await buy(platform);
    router.routeTo([]);
    await bought.control(earlier);
    const responses = [
      await bought.act({ action, idempotencyKey }),
      await bought.act({ action, idempotencyKey }),
      await bought.act({ action, idempotencyKey: 'attempt-2' }),
    ];
    for (const { status, body } of responses)
      expect({ status, body }).toMatchObject({
        status: 409,
        body: { code: 'Conflict', message: responses[0]?.body.message },
      });
    expect(await findActions(bought)).toEqual([]);
    const reasons = await listReasons(bought);
    expect(new Set(reasons).size).toBe(reasons.length);
  });
});

describe('POST /v3/purchases/:purchaseId/actions with a quantity', () => {
  it('refunds the share of the payment, and at most the quantity that was bought', async () => {
    const coins = { type: 'consumable', productId: 'coins', autoRenew: false, quantity: 4 };
    const bought = await buy('processor_a', coins);
    const listPayments = async () =>
      await listTransactionsOfPurchases(getService(), bought.keys.appName, [bought.purchaseId]);
    const [payment] = await listPayments();
    expect(payment?.quantity).toBe(4);
    const refund = { action: 'refund', quantity: 1, idempotencyKey };
    expect(await bought.act({ ...refund, quantity: 5 })).toMatchObject({
      status: 400,
      body: { message: 'quantity: the payment is for 4.' },
    });
    for (const _repetition of [1, 2])
      expect(await bought.act(refund)).toMatchObject({ status: 200, body: { isConfirmed: true } });
    const [refunded] = await listPayments();
    expect(refunded?.partialRefunds?.map(({ amountMicros }) => amountMicros)).toEqual([
      (payment?.amountMicros ?? 0) / 4,
    ]);
    expect(refunded?.refundedAt).toBeUndefined();
  });

  it('rejects a quantity at a store that refunds whole payments only', async () => {
    const bought = await buy('store_b', { type: 'consumable', productId: 'coins', autoRenew: false, quantity: 2 });
    expect(await bought.act({ action: 'refund', quantity: 1, idempotencyKey })).toMatchObject({
      status: 400,
      body: { message: 'The store refunds the whole payment only.' },
    });
    expect(await findActions(bought)).toEqual([]);
  });
});
