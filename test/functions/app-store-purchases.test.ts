import { describe, expect, it } from '@jest/globals';
import { getCustomerPurchases, getCustomerTransactions } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { listOwnedPurchaseIds } from '../../lib/purchases/owned-purchase-table.ts';
import { getTransaction } from '../../lib/purchases/transaction-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { search } from '../../lib/search/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { listReasons, startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);

const buy = async (order: object) => await fixture.callControl('/purchases', { platform: 'store_a', ...order });

/** Returns the product ids of a collection. */
const listProducts = (body: { data: { collection: { id: string }[] } }): string[] =>
  body.data.collection.map(({ id }) => id);

describe('POST /v1/validate with the App Store', () => {
  const keys = startBeforeAll(async () => await fixture.createApp(['store_a']));
  const buyPremium = async (applicationUsername: string, order: object = {}) =>
    await buy({ productId: 'premium', type: 'paid subscription', applicationUsername, ...order });
  const read = async (contract: typeof getCustomerPurchases | typeof getCustomerTransactions, user: string) =>
    (await callWithSecretKey(contract, keys, { params: { applicationUsername: user } })).body;

  it('turns a receipt into an entitlement that can be read back', async () => {
    const user = createUniqueName('user');
    const { validate } = await buyPremium(user);
    const { body } = await fixture.validate(keys, validate);
    expect(body).toMatchObject({
      ok: true,
      data: {
        id: 'com.example.app',
        latest_receipt: true,
        transaction: { type: validate.transaction.type },
        collection: [{ id: 'premium', isExpired: false, renewalIntent: 'Renew', quantity: 1 }],
      },
    });
    expect(body.data.date).toMatch(/\.\d{3}Z$/);
    const { purchases } = await read(getCustomerPurchases, user);
    expect(purchases['store_a:premium']).toMatchObject({
      isExpired: false,
      sandbox: false,
      currency: 'USD',
      amountMicros: 4_990_000,
      amountUSD: 4.99,
      renewalIntent: 'Renew',
    });
  });

  it('shows it expired when its time has passed, and two transactions of one purchase after a renewal', async () => {
    const user = createUniqueName('user');
    const { id, validate } = await buyPremium(user);
    await fixture.validate(keys, validate);
    await fixture.callControl('/clock', { advance: 'P1M1D' });
    const lapsed = await read(getCustomerPurchases, user);
    expect(lapsed.purchases['store_a:premium']).toMatchObject({ isExpired: true });
    const renewed = await fixture.callControl(`/purchases/${id}/renew`, {});
    expect((await fixture.validate(keys, renewed.validate)).body.ok).toBe(true);
    const { purchases } = await read(getCustomerPurchases, user);
    expect(purchases['store_a:premium']).toMatchObject({ isExpired: false });
    const { transactions } = await read(getCustomerTransactions, user);
    expect(new Set(transactions.map(({ purchaseId }: { purchaseId: string }) => purchaseId)).size).toBe(1);
    expect(transactions).toHaveLength(2);
  });
});

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
    const { consumed } = getService().table;
    const measure = async () => {
      await fixture.callControl('/clock', { advance: 'PT5M' });
      const before = { ...consumed };
      const { body } = await fixture.validate(keys, validate);
      expect(listProducts(body)).toEqual(['hat']);
      return { reads: consumed.read - before.read, writes: consumed.write - before.write };
    };
    const countStored = async () =>
      (await listOwnedPurchaseIds(getService(), keys.appName, applicationUsername)).length;
    await measure();
    expect(await countStored()).toBe(101);
    await measure();
    expect(await countStored()).toBe(count + 1);
    const { reads, writes } = await measure();
    expect(reads).toBeLessThan(1.5 * count);
    // The event and the requested purchase.
    expect(writes).toBeLessThan(50);
  });
});

describe('GET /v3/search (App Store)', () => {
  it('finds all purchases of the store account by its appTransactionId', async () => {
    const keys = await fixture.createApp(['store_a']);
    const applicationUsername = createUniqueName('user');
    const hat = await buy({ productId: 'hat', type: 'non consumable', applicationUsername });
    const plan = await buy({ productId: 'plan', type: 'paid subscription', applicationUsername });
    await fixture.validate(keys, plan.validate);
    const { results } = (await callWithSecretKey(search, keys, { query: { q: hat.appTransactionId } })).body;
    expect(
      results
        .map(({ match, purchase }: { match: string; purchase: { purchaseId: string } }) => [match, purchase.purchaseId])
        .sort(),
    ).toEqual([hat, plan].map(({ id }) => ['appTransactionId', `store_a:${id}`]).sort());
  });
});

describe('multiseat purchase (App Store)', () => {
  const seatTiers = [
    { priceMicros: 9_990_000, quantity: 5 },
    { priceMicros: 7_990_000, quantity: 3 },
  ];
  const total = 73_920_000;

  const givenSeats = async () => {
    const keys = await fixture.createNotifiedApp('store_a');
    const order = { productId: createUniqueName('team'), type: 'paid subscription', seats: 8, seatTiers };
    const { id, validate } = await buy({ ...order, applicationUsername: createUniqueName('user') });
    await fixture.validate(keys, validate);
    return {
      keys,
      id,
      act: async (action: string, details: object = {}) => {
        const result = await fixture.callControl(`/purchases/${id}/${action}`, details);
        await fixture.processNotifications();
        return result;
      },
      fetchPurchase: async () => await fixture.fetchPurchase(keys, `store_a:${id}`),
      fetchTransaction: async (transactionId: string) =>
        (await callWithSecretKey(getTransaction, keys, { params: { transactionId: `store_a:${transactionId}` } })).body,
    };
  };

  it('counts the sum over the price tiers, once, and nothing for an assigned seat', async () => {
    const { keys, act, fetchPurchase } = await givenSeats();
    expect(await fetchPurchase()).toMatchObject({ quantity: 8, amountMicros: total });
    const member = await act('assign-seat', { applicationUsername: createUniqueName('member') });
    expect((await fixture.validate(keys, member.validate)).body.ok).toBe(true);
    const purchase = await fixture.fetchPurchase(keys, `store_a:${member.id}`);
    expect(purchase).toMatchObject({ isSharedPurchase: true, amountMicros: 0, isExpired: false });
    await act('remove-seat');
    const removed = await fixture.fetchPurchase(keys, `store_a:${member.id}`);
    expect(removed).toMatchObject({ isExpired: true, amountMicros: 0 });
    expect(listReasons(removed)).toEqual(['PURCHASED', 'REVOKED']);
    expect(await fetchPurchase()).toMatchObject({ isExpired: false, amountMicros: total });
  });

  it('keeps the purchase and returns the price of refunded seats', async () => {
    const { id, act, fetchPurchase, fetchTransaction } = await givenSeats();
    const { refundedMicros } = await act('refund-seats', { quantity: 3 });
    expect(await fetchPurchase()).toMatchObject({ isExpired: false, quantity: 5 });
    expect(listReasons(await fetchPurchase())).toEqual(['PURCHASED', 'REFUNDED']);
    expect(await fetchTransaction(id)).toMatchObject({ amountMicros: total, refundedAmountMicros: refundedMicros });
    expect(refundedMicros).toBe((total * 3) / 8);
  });

  it('announces the refund of the last added seats once', async () => {
    const { act, fetchPurchase, fetchTransaction } = await givenSeats();
    const { transactionId } = await act('add-seats', { quantity: 2, priceMicros: 5_000_000 });
    await act('refund-seats', { quantity: 1 });
    await act('refund-seats', { quantity: 1 });
    expect(listReasons(await fetchPurchase())).toEqual(['PURCHASED', 'REFUNDED', 'REFUNDED']);
    expect(await fetchTransaction(transactionId)).toMatchObject({
      amountMicros: 10_000_000,
      refundedAmountMicros: 10_000_000,
    });
  });

  it('counts added seats as another payment of the period, and ends with the last of them', async () => {
    const { id, act, fetchPurchase, fetchTransaction } = await givenSeats();
    await fixture.callControl('/clock', { advance: 'P3D' });
    const { transactionId, expiresDate } = await act('add-seats', { quantity: 2, priceMicros: 5_000_000 });
    const added = await fetchPurchase();
    expect(added).toMatchObject({ quantity: 10, isExpired: false, expirationDate: expiresDate });
    expect(listReasons(added)).toEqual(['PURCHASED']);
    expect(added).not.toHaveProperty('lastRenewalDate');
    expect(await fetchTransaction(transactionId)).toMatchObject({ amountMicros: 10_000_000 });
    await act('refund');
    expect(await fetchPurchase()).toMatchObject({ quantity: 8, isExpired: false });
    await act('refund', { transactionId: id });
    expect(await fetchPurchase()).toMatchObject({ isExpired: true });
  });
});

describe('items of the Advanced Commerce API (App Store)', () => {
  const items = [
    { productId: 'book', priceMicros: 5_000_000 },
    { productId: 'film', priceMicros: 4_000_000 },
  ];

  const givenItems = async () => {
    const keys = await fixture.createNotifiedApp('store_a');
    const order = { productId: createUniqueName('generic'), type: 'paid subscription', items };
    const { id, validate } = await buy({ ...order, applicationUsername: createUniqueName('user') });
    await fixture.validate(keys, validate);
    const fetchPurchase = async () => await fixture.fetchPurchase(keys, `store_a:${id}`);
    return {
      id,
      act: async (action: string, details: object = {}) => {
        const result = await fixture.callControl(`/purchases/${id}/${action}`, details);
        await fixture.processNotifications();
        return result;
      },
      read: async (transactionId = id) => {
        const [{ isExpired, notifications }, { body }] = [
          await fetchPurchase(),
          await callWithSecretKey(getTransaction, keys, { params: { transactionId: `store_a:${transactionId}` } }),
        ];
        const { amountMicros, refundedAmountMicros = 0 } = body;
        const reasons = listReasons({ notifications }).slice(1);
        return { isExpired, reasons, amountMicros, refundedAmountMicros };
      },
    };
  };
  const paid = { isExpired: false, reasons: [], amountMicros: 9_000_000, refundedAmountMicros: 0 };

  it('keeps the purchase until the last item is refunded', async () => {
    const { act, read } = await givenItems();
    expect(await read()).toEqual(paid);
    await act('refund', { productId: 'film', amountMicros: 1_000_000 });
    expect(await read()).toEqual({ ...paid, reasons: ['REFUNDED'], refundedAmountMicros: 1_000_000 });
    await act('refund', { productId: 'book' });
    const reasons = ['REFUNDED', 'REFUNDED'];
    expect(await read()).toEqual({ ...paid, reasons, refundedAmountMicros: 6_000_000 });
    const { refundedMicros } = await act('refund');
    expect(refundedMicros).toBe(9_000_000);
    expect(await read()).toEqual({
      ...paid,
      isExpired: true,
      reasons: [...reasons, 'REFUNDED'],
      refundedAmountMicros: 9_000_000,
    });
  });

  it('bills the other items in the next period, and returns a refund that is reversed', async () => {
    const { act, read } = await givenItems();
    await act('refund', { productId: 'book' });
    const { transactionId } = await act('renew');
    expect(await read(transactionId)).toMatchObject({ isExpired: false, amountMicros: 4_000_000 });
    await act('refund');
    expect(await read(transactionId)).toMatchObject({ isExpired: true, refundedAmountMicros: 4_000_000 });
    await act('reverse-refund');
    expect(await read(transactionId)).toMatchObject({ isExpired: false, refundedAmountMicros: 0 });
  });
});

describe('commitment plan (App Store)', () => {
  it('lapses at the end of the commitment after a cancelation, without grace, and keeps earlier refunds', async () => {
    const keys = await fixture.createNotifiedApp('store_a');
    const order = { productId: createUniqueName('plan'), type: 'paid subscription', commitment: true };
    const { id, validate } = await buy({ ...order, applicationUsername: createUniqueName('user') });
    await fixture.validate(keys, validate);
    const act = async (action: string, details: object = {}) => {
      await fixture.callControl(`/purchases/${id}/${action}`, details);
      await fixture.processNotifications();
      return await fixture.fetchPurchase(keys, `store_a:${id}`);
    };
    await act('renew');
    expect(await act('cancel')).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    expect(await act('renew')).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
    const refunded = await act('refund', { transactionId: id });
    expect(refunded).toMatchObject({ isExpired: false });
    expect(listReasons(refunded)).toEqual(['PURCHASED', 'RENEWED', 'WILL_LAPSE', 'RENEWED', 'REFUNDED']);
    expect(await act('fail-payment')).toMatchObject({ isExpired: true, cancelationReason: 'System.BillingError' });
    expect(await act('recover')).toMatchObject({ isExpired: false, renewalIntent: 'Lapse' });
  });
});

describe('the purchase of a member (App Store) after the reversal of a refund', () => {
  /** The member of a family, or with an assigned seat, whose buyer got a refund that Apple has reversed. */
  const givenReversedRefund = async (type: string, share: string) => {
    const keys = await fixture.createNotifiedApp('store_a');
    const seats = share === 'assign-seat' ? { seats: 2 } : {};
    const order = { productId: createUniqueName('shared'), type, applicationUsername: createUniqueName('buyer') };
    const { id } = await buy({ ...order, ...seats });
    const member = await fixture.callControl(`/purchases/${id}/${share}`, {
      applicationUsername: createUniqueName('member'),
    });
    await fixture.validate(keys, member.validate);
    const fetchPurchase = async () => await fixture.fetchPurchase(keys, `store_a:${member.id}`);
    await fixture.callControl('/clock', { advance: 'PT1H' });
    await fixture.callControl(`/purchases/${id}/refund`, {});
    await fixture.processNotifications();
    expect(await fetchPurchase()).toMatchObject({ isExpired: true });
    await fixture.callControl('/clock', { advance: 'PT1H' });
    const reverse = async () => {
      await fixture.callControl(`/purchases/${id}/reverse-refund`, {});
      await fixture.processNotifications();
    };
    return { keys, member, fetchPurchase, reverse };
  };
  const shares = [
    ['paid subscription', 'share'],
    ['non consumable', 'share'],
    ['paid subscription', 'assign-seat'],
  ] as const;
  /** A purchase without an end lacks `isExpired`. */
  const expectAccess = (purchase: Awaited<ReturnType<typeof fixture.fetchPurchase>>) => {
    expect(purchase.isExpired ?? false).toBe(false);
    expect(purchase).not.toHaveProperty('cancelationReason');
    expect(listReasons(purchase)).toEqual(['PURCHASED', 'REVOKED', 'RENEWED']);
  };

  it.each(sampleItems(shares, 1))('gives access again by a notification (%s, %s)', async (type, share) => {
    const { fetchPurchase, reverse } = await givenReversedRefund(type, share);
    await reverse();
    const restored = await fetchPurchase();
    expectAccess(restored);
    expect(restored).toMatchObject({ isSharedPurchase: true, amountMicros: 0 });
  });

  it.each(sampleItems(shares, 1, 'validation'))(
    'gives access again by a validation without notifications (%s, %s)',
    async (type, share) => {
      const { keys, member, fetchPurchase, reverse } = await givenReversedRefund(type, share);
      await fixture.setNotificationUrl('store_a', null);
      await reverse();
      expect(await fetchPurchase()).toMatchObject({ isExpired: true });
      expect((await fixture.validate(keys, member.validate)).body).toMatchObject({ ok: true });
      expectAccess(await fetchPurchase());
    },
  );

  it.each(sampleItems(shares, 1, 'refresh'))(
    'gives access again by a refresh without notifications (%s, %s)',
    async (type, share) => {
      const { keys, member, fetchPurchase, reverse } = await givenReversedRefund(type, share);
      await fixture.setNotificationUrl('store_a', null);
      await reverse();
      await fixture.callControl('/clock', { advance: 'P10D' });
      await refreshPurchase(getService(), { appName: keys.appName, purchaseId: `store_a:${member.id}` });
      expectAccess(await fetchPurchase());
    },
  );
});
