import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { processorB } from '../../../../lib/stores/processor-b/processor-b.ts';
import type { StoreNotification } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { type Braintree, useBraintree } from './fake-braintree.ts';

let braintree: Braintree;
beforeAll(async () => {
  braintree = await useBraintree();
});
afterAll(() => braintree.close());

/** A purchase that was validated, known by its refresh token as the table would know it. */
async function known(order: object) {
  const { id, body } = await braintree.bought({ applicationUsername: 'Ann', ...order });
  const [first] = (await braintree.validate(body)).observations as [Observation];
  const findRefreshToken: StoreContext['findRefreshToken'] = async (purchaseId) =>
    purchaseId === first.purchase.purchaseId ? first.refreshToken : undefined;
  return {
    id,
    purchaseId: first.purchase.purchaseId.replace('processor_b:', ''),
    paymentId: first.purchase.transactionId.replace('processor_b:', ''),
    asking: braintree.asking({ findRefreshToken }),
  };
}

const message = (type: string, payload: StoreNotification['payload']): StoreNotification => ({
  key: type,
  type,
  occurredAt: 0,
  payload,
});

const observe = async (context: StoreContext, content: StoreNotification['payload']) =>
  await processorB.observe?.(message('a_kind', { reason: 'OTHER', ...content }), context);

const monthly = { productId: 'monthly', type: 'paid subscription' };

describe('what a webhook of processor_b is about', () => {
  it('is read from the processor, whatever the webhook says', async () => {
    const { id, purchaseId, asking: context } = await known(monthly);
    await braintree.act(id, 'cancel');
    expect(await observe(context, { reason: 'RENEWED', subscription: purchaseId })).toMatchObject({
      reason: 'RENEWED',
      observations: [{ purchase: { purchaseId: `processor_b:${purchaseId}`, renewalIntent: 'Lapse' } }],
    });
  });

  it('is found by a payment of a subscription, too', async () => {
    const { purchaseId, paymentId, asking: context } = await known(monthly);
    expect(await observe(context, { transaction: paymentId })).toMatchObject({
      observations: [{ purchase: { purchaseId: `processor_b:${purchaseId}` } }],
    });
  });

  it('is no purchase when a validation did not make it', async () => {
    const { purchaseId, paymentId } = await known(monthly);
    const stranger = braintree.asking({ findRefreshToken: async () => undefined });
    for (const content of [
      { subscription: purchaseId },
      { transaction: paymentId },
      { transaction: 'never_heard_of' },
      { transaction: '../customers' },
      {},
    ]) {
      expect(await observe(stranger, content)).toEqual({ reason: 'OTHER', observations: [] });
    }
  });

  it('is no purchase when the processor has it no more', async () => {
    const origin = { productId: 'monthly', customerId: 'Ann' };
    for (const token of [
      { subscription: 'gone', ...origin },
      { transaction: 'gone', ...origin },
    ]) {
      const context = braintree.asking({ findRefreshToken: async () => token });
      expect(await observe(context, { subscription: 'gone' })).toEqual({ reason: 'OTHER', observations: [] });
    }
  });

  it('is asked for again later while the processor cannot be asked', async () => {
    const { purchaseId, asking: context } = await known(monthly);
    await braintree.addFault({ fault: 'down' });
    await expect(observe(context, { subscription: purchaseId })).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('is over when a dispute was lost: the money went back', async () => {
    const { id, purchaseId, paymentId, asking: context } = await known(monthly);
    await braintree.act(id, 'revoke');
    const now = braintree.clock.now();
    expect(await observe(context, { reason: 'REFUNDED', transaction: paymentId })).toMatchObject({
      observations: [
        {
          purchase: { purchaseId: `processor_b:${purchaseId}`, endedAt: now, cancelationReason: 'Customer' },
          transactions: [{ transactionId: `processor_b:${paymentId}`, refundedAt: now }],
        },
      ],
    });
  });
});

describe('what the processor tells nobody of', () => {
  const missed = async (context: StoreContext, since: number) =>
    (await processorB.listUndelivered?.(since, context)) ?? [];
  const day = 86_400_000;

  it.each([
    ['a refund', 'refund', 'P2D'],
    ['a void', 'void', 'PT1H'],
  ])('is %s, found by a search and read like a webhook', async (_what, type, later) => {
    const { id, purchaseId, paymentId, asking: context } = await known({ productId: 'tip_jar', type: 'consumable' });
    await braintree.advance(later);
    const since = braintree.clock.now();
    await braintree.act(id, 'refund');
    const found = (await missed(context, since)).filter((one) => one.type === type);
    expect(found).toMatchObject([{ key: expect.any(String), content: { reason: 'REFUNDED' } }]);
    const [one] = found as [StoreNotification];
    expect(await processorB.observe?.(one, context)).toMatchObject({
      reason: 'REFUNDED',
      observations: [
        {
          purchase: { purchaseId: `processor_b:${purchaseId}`, endedAt: since },
          transactions: [{ transactionId: `processor_b:${paymentId}`, refundedAt: since }],
        },
      ],
    });
    await braintree.advance('PT1H');
    expect((await missed(context, since)).map(({ key }) => key)).toContain(one.key);
    expect((await missed(context, since + 1_000)).map(({ key }) => key)).not.toContain(one.key);
  });

  it('is the refund of a renewal, too', async () => {
    const { id, purchaseId, asking: context } = await known(monthly);
    await braintree.advance('P2D');
    await braintree.act(id, 'refund');
    const [one] = (await missed(context, braintree.clock.now() - day)) as [StoreNotification];
    expect(await processorB.observe?.(one, context)).toMatchObject({
      observations: [
        { purchase: { purchaseId: `processor_b:${purchaseId}` }, transactions: [{ refundedAt: expect.any(Number) }] },
      ],
    });
  });

  it('stays untold while the processor cannot be asked', async () => {
    await braintree.addFault({ fault: 'down' });
    await expect(missed(braintree.asking(), 0)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });
});
