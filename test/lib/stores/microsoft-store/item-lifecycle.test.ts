import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { type Microsoft, startMicrosoft, startTime } from './fake-microsoft.ts';
import { monthEnd, runHistory, type Step } from './histories.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await startMicrosoft();
});
afterAll(() => microsoft.close());
beforeEach(() => microsoft.clock.set(startTime));

describe('validate (Microsoft Store) of an item', () => {
  it.each<[string, readonly Step[], object, object]>([
    [
      'a perpetual item as non consumable',
      [],
      { type: 'non consumable' },
      { expired: false, purchase: { productType: 'non consumable', purchaseDate: startTime, quantity: 1 } },
    ],
    [
      'a refunded item as ended, whose refund only the clawback event reports',
      ['P1D', ['refund']],
      { type: 'non consumable' },
      {
        expired: true,
        purchase: { cancelationReason: 'Customer', endedAt: startTime + dayMs },
        transactions: [expect.not.objectContaining({ refundedAt: expect.anything() })],
      },
    ],
    [
      'a trial with its expiration',
      [],
      { type: 'non consumable', trial: 'P1W' },
      { expired: false, purchase: { isTrialPeriod: true, expirationDate: startTime + 7 * dayMs } },
    ],
    [
      'a temporary item as expired after its end',
      ['P1M', 'PT1M'],
      { type: 'non renewing subscription', period: 'P1M' },
      { expired: true, purchase: { productType: 'non renewing subscription', expirationDate: monthEnd } },
    ],
    [
      'a developer-managed consumable as not consumed',
      [],
      { type: 'consumable' },
      { purchase: { productType: 'consumable', isConsumed: false, quantity: 1 } },
    ],
    [
      'a store-managed consumable with its balance',
      [],
      { type: 'consumable', quantity: 3 },
      { purchase: { productType: 'consumable', isConsumed: false, quantity: 3 } },
    ],
  ])('returns %s', async (_case, steps, order, expected) => {
    const result = await runHistory(microsoft, steps, order);
    expect(result).toMatchObject(expected);
    expect(result.purchase).not.toHaveProperty('renewalIntent');
  });

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
