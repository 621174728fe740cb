import { beforeEach, describe, expect, it } from '@jest/globals';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startMicrosoft, startTime } from './fake-microsoft.ts';

const microsoft = startBeforeAll(startMicrosoft);
beforeEach(() => microsoft.clock.set(startTime));

describe('validate (Microsoft Store) of an item', () => {
  it('finds a sandbox purchase only if the settings name the sandbox', async () => {
    const { id, body } = await microsoft.createPurchase({ type: 'non consumable', productId: 'tested', sandbox: true });
    expect(await microsoft.validate(body)).toMatchObject({
      purchaseId: `store_c:${id}`,
      observations: [{ purchase: { sandbox: true }, refreshToken: { sandboxId: 'XDKS.1' } }],
    });
    const { sandboxId: _sandboxId, ...settings } = microsoft.settings('store_c');
    const context = { ...microsoft.createContext(), settings };
    expect((await microsoftStore.validate(body, context)).observations).toEqual([]);
  });

  it('returns no purchase for a product that the customer does not own', async () => {
    const { body } = await microsoft.createPurchase({ type: 'non consumable', productId: 'owned' });
    const other = { ...body, id: 'other', transaction: { ...body.transaction, storeId: 'other' } };
    const validation = await microsoft.validate(other);
    expect(validation).toEqual(expect.objectContaining({ id: 'other', observations: [], nativeTransaction: {} }));
    expect(validation).not.toHaveProperty('purchaseId');
  });

  it("finds an item by the developer's product id", async () => {
    const { id, body } = await microsoft.createPurchase({ type: 'non consumable', productId: 'full-version' });
    const { storeId: _storeId, ...transaction } = body.transaction;
    expect(await microsoft.validate({ ...body, transaction })).toMatchObject({ purchaseId: `store_c:${id}` });
    expect(microsoft.calls.at(-1)?.url).toMatch('/v6.0/collections/query');
  });
});
