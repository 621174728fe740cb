import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { type Microsoft, start, useMicrosoft } from './fake-microsoft.ts';
import { day, live, monthEnd, type Step } from './histories.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());
beforeEach(() => microsoft.clock.set(start));

describe('an item', () => {
  test.each<[string, readonly Step[], object, object]>([
    [
      'for ever is no subscription',
      [],
      { type: 'non consumable' },
      { expired: false, purchase: { productType: 'non consumable', purchaseDate: start, quantity: 1 } },
    ],
    [
      'that was refunded is taken back',
      ['P1D', ['refund']],
      { type: 'non consumable' },
      {
        expired: true,
        purchase: { cancelationReason: 'Customer', endedAt: start + day },
        transactions: [{ refundedAt: start + day }],
      },
    ],
    [
      'in its trial has an end',
      [],
      { type: 'non consumable', trial: 'P1W' },
      { expired: false, purchase: { isTrialPeriod: true, expirationDate: start + 7 * day } },
    ],
    [
      'of some time ends',
      ['P1M', 'PT1M'],
      { type: 'non renewing subscription', period: 'P1M' },
      { expired: true, purchase: { productType: 'non renewing subscription', expirationDate: monthEnd } },
    ],
    [
      'that the developer manages is not consumed while it is there',
      [],
      { type: 'consumable' },
      { purchase: { productType: 'consumable', isConsumed: false, quantity: 1 } },
    ],
    [
      'that the store counts tells what is left',
      [],
      { type: 'consumable', quantity: 3 },
      { purchase: { productType: 'consumable', isConsumed: false, quantity: 3 } },
    ],
  ])('%s', async (_what, steps, order, expected) => {
    const lived = await live(microsoft, steps, order);
    expect(lived).toMatchObject(expected);
    expect(lived.purchase).not.toHaveProperty('renewalIntent');
  });

  it('in the sandbox is found there and marked, and not without the setting', async () => {
    const { id, body } = await microsoft.bought({ type: 'non consumable', productId: 'tested', sandbox: true });
    expect(await microsoft.validate(body)).toMatchObject({
      purchaseId: `store_c:${id}`,
      observations: [{ purchase: { sandbox: true }, refreshToken: { sandboxId: 'XDKS.1' } }],
    });
    const { sandboxId: _none, ...settings } = microsoft.settings('store_c');
    const context = { ...microsoft.asking(), settings };
    const { storeC } = await import('../../../../lib/stores/store-c/store-c.ts');
    expect((await storeC.validate(body, context)).observations).toEqual([]);
  });

  it('that is not owned is an answer without a purchase', async () => {
    const { body } = await microsoft.bought({ type: 'non consumable', productId: 'owned' });
    const other = { ...body, id: 'other', transaction: { ...body.transaction, storeId: 'other' } };
    const validation = await microsoft.validate(other);
    expect(validation).toEqual(expect.objectContaining({ id: 'other', observations: [], native: {} }));
    expect(validation).not.toHaveProperty('purchaseId');
  });

  it("is found by the developer's name of it", async () => {
    const { id, body } = await microsoft.bought({ type: 'non consumable', productId: 'full-version' });
    const { storeId: _unknown, ...transaction } = body.transaction;
    expect(await microsoft.validate({ ...body, transaction })).toMatchObject({ purchaseId: `store_c:${id}` });
    expect(microsoft.calls.at(-1)?.url).toMatch('/v6.0/collections/query');
  });
});
