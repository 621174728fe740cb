import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deps } from '../../composition/deps.ts';
import { getTransaction } from '../../lib/api/transactions.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { listReasons, type NotificationFixture, startNotificationFixture } from './notification-fixture.ts';

let fixture: NotificationFixture;
beforeAll(async () => {
  fixture = await startNotificationFixture();
});
afterAll(() => fixture.close());

const buy = async (order: object) => await fixture.callControl('/purchases', { platform: 'store_a', ...order });

/** Returns the product ids of a collection. */
const listProducts = (body: { data: { collection: { id: string }[] } }): string[] =>
  body.data.collection.map(({ id }) => id);

describe('POST /v1/validate (App Store) with consumables', () => {
  const givenCoins = async () => {
    const keys = await fixture.createApp(['store_a']);
    const applicationUsername = createUniqueName('user');
    const coins = await buy({ productId: 'coins', type: 'consumable', applicationUsername });
    const { body } = await fixture.validate(keys, coins.validate);
    expect(listProducts(body)).toEqual(['coins']);
    await fixture.callControl(`/purchases/${coins.id}/finish`, {});
    return { keys, applicationUsername, coins };
  };

  it.each(['signed', 'receipt'])(
    'leaves a finished consumable out of the collection of other evidence (%s)',
    async (form) => {
      const { keys, applicationUsername, coins } = await givenCoins();
      const { validate } = await buy({ productId: 'hat', type: 'non consumable', applicationUsername, form });
      const { body } = await fixture.validate(keys, validate);
      expect(body.ok).toBe(true);
      expect(listProducts(body)).toEqual(['hat']);
      expect(await fixture.fetchPurchase(keys, `store_a:${coins.id}`)).toMatchObject({
        productId: 'store_a:coins',
        entitledUsers: [applicationUsername],
      });
    },
  );

  it('does not accept other evidence for a finished consumable', async () => {
    const { keys, applicationUsername } = await givenCoins();
    const { validate } = await buy({ productId: 'cap', type: 'non consumable', applicationUsername, form: 'product' });
    const { body } = await fixture.validate(keys, { ...validate, id: 'coins', type: 'consumable' });
    expect(body).toMatchObject({ ok: false, code: 6778001 });
  });

  it('records many finished consumables in portions, and writes nothing for stored ones', async () => {
    const count = 105;
    const keys = await fixture.createApp(['store_a']);
    const applicationUsername = createUniqueName('user');
    for (let index = 0; index < count; index++) {
      const coins = await buy({ productId: `coins-${index % 3}`, type: 'consumable', applicationUsername });
      await fixture.callControl(`/purchases/${coins.id}/finish`, {});
    }
    const { validate } = await buy({ productId: 'hat', type: 'non consumable', applicationUsername });
    const { consumed } = deps().table;
    const measure = async () => {
      await fixture.callControl('/clock', { advance: 'PT5M' });
      const before = { ...consumed };
      const { body } = await fixture.validate(keys, validate);
      expect(listProducts(body)).toEqual(['hat']);
      return { reads: consumed.read - before.read, writes: consumed.write - before.write };
    };
    const countStored = async () =>
      (await deps().ownedPurchases.listPurchaseIds(keys.appName, applicationUsername)).length;
    await measure();
    expect(await countStored()).toBe(101);
    await measure();
    expect(await countStored()).toBe(count + 1);
    const { reads, writes } = await measure();
    expect(reads).toBeLessThan(1.5 * count);
    // The event and the requested purchase.
    expect(writes).toBeLessThan(50);
  });

  it('accepts a receipt without purchases', async () => {
    const { keys, coins } = await givenCoins();
    const { validate } = await fixture.callControl(`/purchases/${coins.id}?form=receipt`);
    const { body } = await fixture.validate(keys, validate);
    expect(body).toMatchObject({ ok: true, data: { collection: [] } });
  });
});

describe('partial refund (App Store)', () => {
  it.each([
    ['ends', 'paid subscription', { amountMicros: 1_000_000 }, {}],
    ['keeps', 'consumable', { quantity: 1 }, { quantity: 4, priceMicros: 1_000_000 }],
  ])('%s a %s and announces the refund', async (effect, type, part, terms) => {
    const keys = await fixture.createNotifiedApp('store_a');
    const order = {
      productId: createUniqueName('product'),
      type,
      ...terms,
      applicationUsername: createUniqueName('user'),
    };
    const { id, validate } = await buy(order);
    await fixture.validate(keys, validate);
    await fixture.callControl(`/purchases/${id}/refund`, part);
    await fixture.processNotifications();
    const purchase = await fixture.fetchPurchase(keys, `store_a:${id}`);
    expect(listReasons(purchase)).toEqual(['PURCHASED', 'REFUNDED']);
    expect(purchase.isExpired ?? false).toBe(effect === 'ends');
    expect(purchase.cancelationReason).toBe(effect === 'ends' ? 'Customer.OtherReason' : undefined);
    const { body } = await callWithSecretKey(getTransaction, keys, { params: { transactionId: `store_a:${id}` } });
    // Apple rounds the refunded share to a thousandth of a percent.
    expect(Math.abs(Number(body.refundedAmountMicros) - 1_000_000)).toBeLessThan(50);
  });
});
