import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import { type Microsoft, useMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());

const consumes = () => microsoft.calls.filter(({ url }) => url.endsWith('/collections/consume'));

const afterStored = async (validation: StoreValidation, settings: object = { consume: true }) =>
  (await storeC.fulfill?.(validation, microsoft.asking(settings))) ?? [];

async function validated(order: object): Promise<{ id: string; body: ValidationRequest; validation: StoreValidation }> {
  const { id, body } = await microsoft.bought({ type: 'consumable', ...order });
  return { id, body, validation: await microsoft.validate(body) };
}

it('a consumable of the developer is consumed and can be bought again', async () => {
  const { id, validation } = await validated({ productId: 'coins', applicationUsername: 'coins' });
  const before = validation.observations[0]?.asOf ?? 0;
  expect(await afterStored(validation)).toMatchObject([
    { asOf: before + 1, purchase: { purchaseId: `store_c:${id}`, isConsumed: true, quantity: 0 } },
  ]);
  expect(JSON.parse(consumes().at(-1)?.init.body ?? '')).not.toHaveProperty('removeQuantity');
  expect(
    (await microsoft.bought({ type: 'consumable', productId: 'coins', applicationUsername: 'coins' })).id,
  ).not.toBe(id);
});

it('a consumable that the store counts loses its whole balance', async () => {
  const { id, validation } = await validated({ productId: 'gems', quantity: 5 });
  expect(await afterStored(validation)).toMatchObject([{ purchase: { isConsumed: true, quantity: 0 } }]);
  expect((await microsoft.seen(id)).purchase).toMatchObject({ isConsumed: true, quantity: 0 });
});

it('what was bought again since then is another purchase to consume', async () => {
  const order = { productId: 'pearls', quantity: 2, applicationUsername: 'pearls' };
  const { id, validation } = await validated(order);
  await afterStored(validation);
  const again = await validated(order);
  expect(again.id).toBe(id);
  expect(again.validation.observations).toMatchObject([{ purchase: { isConsumed: false, quantity: 2 } }]);
  expect(await afterStored(again.validation)).toMatchObject([{ purchase: { isConsumed: true } }]);
});

it('a consumption that is tried again is the same one', async () => {
  const { validation } = await validated({ productId: 'tokens', quantity: 5 });
  const first = await afterStored(validation);
  expect(await afterStored(validation)).toEqual(first);
  const [one, other] = consumes()
    .slice(-2)
    .map(({ init }) => JSON.parse(init.body ?? '').trackingId);
  expect(one).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect(other).toBe(one);
});

it('nothing is consumed without the setting, nor what is no consumable or is consumed', async () => {
  const { validation } = await validated({ productId: 'kept' });
  const lasting = await validated({ productId: 'lasting', type: 'non consumable' });
  const used = await validated({ productId: 'used', quantity: 1 });
  await afterStored(used.validation);
  const before = consumes().length;
  expect(await afterStored(validation, {})).toEqual([]);
  expect(await afterStored(validation, { consume: false })).toEqual([]);
  expect(await afterStored(lasting.validation)).toEqual([]);
  expect(await afterStored(await microsoft.validate(used.body))).toEqual([]);
  expect(consumes()).toHaveLength(before);
});

it('a consumption that fails throws, for the caller to record', async () => {
  const { validation } = await validated({ productId: 'unlucky' });
  await microsoft.addFault({ fault: 'down' });
  await expect(afterStored(validation)).rejects.toMatchObject({ code: 'ConnectionFailed' });
});

it('what was bought in the sandbox is consumed there', async () => {
  const { id, validation } = await validated({ productId: 'test coins', quantity: 2, sandbox: true });
  expect(await afterStored(validation)).toMatchObject([
    { purchase: { purchaseId: `store_c:${id}`, isConsumed: true } },
  ]);
});
