import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { braintree } from '../../../../lib/stores/braintree/braintree.ts';
import type { StoreNotification } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startFakeBraintree } from './fake-braintree.ts';

const fake = startBeforeAll(startFakeBraintree);

/** Validates a purchase. Returns a context in which its refresh token is stored. */
async function validatePurchase(order: object) {
  const { id, body } = await fake.buy({ applicationUsername: 'Ann', ...order });
  const [first] = (await fake.validate(body)).observations as [Observation];
  const findRefreshToken: StoreContext['findRefreshToken'] = async (purchaseId) =>
    purchaseId === first.purchase.purchaseId ? first.refreshToken : undefined;
  return {
    id,
    purchaseId: first.purchase.purchaseId.replace('processor_b:', ''),
    paymentId: first.purchase.transactionId.replace('processor_b:', ''),
    context: fake.createContext({ findRefreshToken }),
  };
}

const buildNotification = (type: string, payload: StoreNotification['payload']): StoreNotification => ({
  key: type,
  type,
  occurredAt: 0,
  payload,
});

const observe = async (context: StoreContext, payload: StoreNotification['payload']) =>
  await braintree.observe?.(buildNotification('a_kind', { reason: 'OTHER', ...payload }), context);

const monthly = { productId: 'monthly', type: 'paid subscription' };

describe('observe (Braintree)', () => {
  it('fetches the current state instead of the state in the webhook', async () => {
    const { id, purchaseId, context } = await validatePurchase(monthly);
    await fake.act(id, 'cancel');
    expect(await observe(context, { reason: 'RENEWED', subscription: purchaseId })).toMatchObject({
      reason: 'RENEWED',
      observations: [{ purchase: { purchaseId: `processor_b:${purchaseId}`, renewalIntent: 'Lapse' } }],
    });
  });

  it('finds a subscription by its payment', async () => {
    const { purchaseId, paymentId, context } = await validatePurchase(monthly);
    expect(await observe(context, { transaction: paymentId })).toMatchObject({
      observations: [{ purchase: { purchaseId: `processor_b:${purchaseId}` } }],
    });
  });

  it('ignores purchases that no validation created', async () => {
    const { purchaseId, paymentId } = await validatePurchase(monthly);
    const otherContext = fake.createContext({ findRefreshToken: async () => undefined });
    expect(await observe(otherContext, { subscription: purchaseId })).toEqual({
      reason: 'OTHER',
      observations: [],
      unknownPurchaseId: `processor_b:${purchaseId}`,
    });
    for (const payload of [
      { transaction: paymentId },
      { transaction: 'unknown' },
      { transaction: '../customers' },
      {},
    ]) {
      expect(await observe(otherContext, payload)).toEqual({ reason: 'OTHER', observations: [] });
    }
  });

  it('ignores purchases that Braintree does not have any longer', async () => {
    const owner = { productId: 'monthly', customerId: 'Ann' };
    for (const token of [
      { subscription: 'gone', ...owner },
      { transaction: 'gone', ...owner },
    ]) {
      const context = fake.createContext({ findRefreshToken: async () => token });
      expect(await observe(context, { subscription: 'gone' })).toMatchObject({ reason: 'OTHER', observations: [] });
    }
  });

  it('throws ConnectionFailed during an outage', async () => {
    const { purchaseId, context } = await validatePurchase(monthly);
    await fake.addFault({ fault: 'down' });
    await expect(observe(context, { subscription: purchaseId })).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('ends a purchase with a lost dispute', async () => {
    const { id, purchaseId, paymentId, context } = await validatePurchase(monthly);
    await fake.act(id, 'revoke');
    const now = fake.clock.now();
    expect(await observe(context, { reason: 'REVOKED', transaction: paymentId })).toMatchObject({
      observations: [
        {
          purchase: { purchaseId: `processor_b:${purchaseId}`, endedAt: now, cancelationReason: 'System' },
          transactions: [{ transactionId: `processor_b:${paymentId}`, refundedAt: now }],
        },
      ],
    });
  });
});

describe('listUndelivered (Braintree)', () => {
  const listUndelivered = async (context: StoreContext, since: number) =>
    (await braintree.listUndelivered?.(since, context)) ?? [];

  it.each([
    ['refund', 'P2D'],
    ['void', 'PT1H'],
  ])('lists a %s that observe accepts', async (type, later) => {
    const { id, purchaseId, paymentId, context } = await validatePurchase({ productId: 'tip_jar', type: 'consumable' });
    await fake.advance(later);
    const since = fake.clock.now();
    await fake.act(id, 'refund');
    const notifications = (await listUndelivered(context, since)).filter((notification) => notification.type === type);
    expect(notifications).toMatchObject([{ key: expect.any(String), payload: { reason: 'REFUNDED' } }]);
    const [notification] = notifications as [StoreNotification];
    expect(await braintree.observe?.(notification, context)).toMatchObject({
      reason: 'REFUNDED',
      observations: [
        {
          purchase: { purchaseId: `processor_b:${purchaseId}`, endedAt: since },
          transactions: [{ transactionId: `processor_b:${paymentId}`, refundedAt: since }],
        },
      ],
    });
    await fake.advance('PT1H');
    expect((await listUndelivered(context, since)).map(({ key }) => key)).toContain(notification.key);
    expect((await listUndelivered(context, since + 1_000)).map(({ key }) => key)).not.toContain(notification.key);
  });

  it('lists the refund of a renewal', async () => {
    const { id, purchaseId, context } = await validatePurchase(monthly);
    await fake.advance('P2D');
    await fake.act(id, 'refund');
    const [notification] = (await listUndelivered(context, fake.clock.now() - dayMs)) as [StoreNotification];
    expect(await braintree.observe?.(notification, context)).toMatchObject({
      observations: [
        { purchase: { purchaseId: `processor_b:${purchaseId}` }, transactions: [{ refundedAt: expect.any(Number) }] },
      ],
    });
  });

  it('returns the money of a refund that failed', async () => {
    const { id, context } = await validatePurchase(monthly);
    await fake.advance('P2D');
    await fake.act(id, 'refund');
    const [refund] = (await listUndelivered(context, fake.clock.now() - 1_000)) as [StoreNotification];
    await fake.act(id, 'reverse-refund');
    const observed = await braintree.observe?.(refund, context);
    expect(observed?.observations[0]?.transactions).toMatchObject([{ partialRefunds: [{ status: 'returned' }] }]);
    expect(observed?.observations[0]?.purchase).not.toHaveProperty('endedAt');
  });

  it('throws ConnectionFailed during an outage', async () => {
    await fake.addFault({ fault: 'down' });
    await expect(listUndelivered(fake.createContext(), 0)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });
});
