import { describe, expect, it } from '@jest/globals';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startMicrosoft } from './fake-microsoft.ts';

const microsoft = startBeforeAll(startMicrosoft);

const listConsumeCalls = () => microsoft.calls.filter(({ url }) => url.endsWith('/collections/consume'));

const fulfill = async (validation: StoreValidation, settings: object = { consume: true }) =>
  (await microsoftStore.fulfill?.(validation, microsoft.createContext(settings))) ?? [];

async function buyAndValidate(
  order: object,
): Promise<{ id: string; body: ValidationRequest; validation: StoreValidation }> {
  const { id, body } = await microsoft.createPurchase({ type: 'consumable', ...order });
  return { id, body, validation: await microsoft.validate(body) };
}

describe('fulfill (Microsoft Store)', () => {
  it('consumes a developer-managed consumable, which can then be bought again', async () => {
    const order = { type: 'consumable', productId: 'coins', applicationUsername: 'coins' };
    const { id, validation } = await buyAndValidate(order);
    const validatedAt = validation.observations[0]?.asOf ?? 0;
    expect(await fulfill(validation)).toMatchObject([
      { asOf: validatedAt + 1, purchase: { purchaseId: `store_c:${id}`, isConsumed: true, quantity: 0 } },
    ]);
    expect(JSON.parse(listConsumeCalls().at(-1)?.init.body ?? '')).not.toHaveProperty('removeQuantity');
    expect((await microsoft.createPurchase(order)).id).not.toBe(id);
  });

  it('consumes the whole balance of a store-managed consumable', async () => {
    const { id, validation } = await buyAndValidate({ productId: 'gems', quantity: 5 });
    expect(await fulfill(validation)).toMatchObject([{ purchase: { isConsumed: true, quantity: 0 } }]);
    expect((await microsoft.getObservation(id)).purchase).toMatchObject({ isConsumed: true, quantity: 0 });
  });

  it('consumes a store-managed consumable again after the next purchase', async () => {
    const order = { productId: 'pearls', quantity: 2, applicationUsername: 'pearls' };
    const { id, validation } = await buyAndValidate(order);
    await fulfill(validation);
    const second = await buyAndValidate(order);
    expect(second.id).toBe(id);
    expect(second.validation.observations).toMatchObject([{ purchase: { isConsumed: false, quantity: 2 } }]);
    expect(await fulfill(second.validation)).toMatchObject([{ purchase: { isConsumed: true } }]);
  });

  it('retries a consumption with the same tracking id', async () => {
    const { validation } = await buyAndValidate({ productId: 'tokens', quantity: 5 });
    const result = await fulfill(validation);
    expect(await fulfill(validation)).toEqual(result);
    const [firstId, secondId] = listConsumeCalls()
      .slice(-2)
      .map(({ init }) => JSON.parse(init.body ?? '').trackingId);
    expect(firstId).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(secondId).toBe(firstId);
  });

  it('consumes nothing without the setting, for other types of products and for consumed ones', async () => {
    const { validation } = await buyAndValidate({ productId: 'kept' });
    const durable = await buyAndValidate({ productId: 'durable', type: 'non consumable' });
    const consumed = await buyAndValidate({ productId: 'consumed', quantity: 1 });
    await fulfill(consumed.validation);
    const callCount = listConsumeCalls().length;
    expect(await fulfill(validation, {})).toEqual([]);
    expect(await fulfill(validation, { consume: false })).toEqual([]);
    expect(await fulfill(durable.validation)).toEqual([]);
    expect(await fulfill(await microsoft.validate(consumed.body))).toEqual([]);
    expect(listConsumeCalls()).toHaveLength(callCount);
  });

  it.each<[state: object, isConsumed: boolean]>([
    [{ endsAccess: true, isChargeback: false }, false],
    // The customer keeps what Microsoft refunds without a return.
    [{ isChargeback: false }, true],
  ])(
    'consumes a refunded item that the store still lists only if the customer keeps it (%j)',
    async (state, isConsumed) => {
      const { body, validation: first } = await buyAndValidate({ productId: `refunded ${isConsumed}` });
      const [payment] = first.observations[0]?.transactions ?? [];
      const date = microsoft.clock.now();
      const stored = payment && { ...payment, refundedAt: date, clawbacks: { event: { date, ...state } } };
      const context = {
        ...microsoft.createContext({ consume: true }),
        listTransactions: async () => (stored ? [stored] : []),
      };
      const validation = await microsoftStore.validate(body, context);
      expect(validation.observations[0]?.purchase.serviceConsumption !== undefined).toBe(isConsumed);
      expect(await microsoftStore.fulfill?.(validation, context)).toHaveLength(isConsumed ? 1 : 0);
    },
  );

  it('throws if the store is unavailable', async () => {
    const { validation } = await buyAndValidate({ productId: 'unavailable' });
    await microsoft.addFault({ fault: 'down' });
    await expect(fulfill(validation)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('consumes a sandbox purchase in its sandbox', async () => {
    const { id, validation } = await buyAndValidate({ productId: 'test coins', quantity: 2, sandbox: true });
    expect(await fulfill(validation)).toMatchObject([{ purchase: { purchaseId: `store_c:${id}`, isConsumed: true } }]);
  });
});
