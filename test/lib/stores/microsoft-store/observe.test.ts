import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { withoutPlatform } from '../../../../lib/foundation/platform.ts';
import { dayMs, hourMs, minuteMs } from '../../../../lib/foundation/time.ts';
import { merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startMicrosoft, startTime } from './fake-microsoft.ts';

const microsoft = startBeforeAll(startMicrosoft);

interface StoredChanges {
  readonly order?: object;
  /** Changes of the stored purchase and of its stored payment since the validation. */
  readonly purchase?: object;
  readonly payment?: object;
  readonly refreshToken?: object;
}

/** Validates a purchase, stores it with the changes and returns a clawback event that occurs an hour later. */
async function createClawback(state: string, changes: StoredChanges = {}) {
  microsoft.clock.set(startTime);
  const { body } = await microsoft.createPurchase({ type: 'paid subscription', productId: state, ...changes.order });
  const [observation] = (await microsoft.validate(body)).observations as [Observation];
  const purchase = { ...observation.purchase, ...changes.purchase };
  const [payment] = observation.transactions.map((transaction) => ({ ...transaction, ...changes.payment })) as [
    Transaction,
  ];
  const refreshToken = { ...observation.refreshToken, ...changes.refreshToken };
  const context: StoreContext = {
    ...microsoft.createContext(),
    findPurchase: async (id) => (id === purchase.purchaseId ? purchase : undefined),
    findRefreshToken: async (id) => (id === purchase.purchaseId ? refreshToken : undefined),
    listTransactions: async (id) => (id === purchase.purchaseId ? [payment] : []),
  };
  const eventDate = startTime + hourMs;
  const { purchaseId, transactionId } = purchase;
  const payload = { state, eventDate, purchaseId, transactionId, messageId: 'id', popReceipt: 'receipt' };
  const observe = async (payloadChanges: object = {}, key = 'event') => {
    const notification = {
      key,
      type: `clawback.${state}`,
      occurredAt: startTime,
      payload: { ...payload, ...payloadChanges },
    };
    return await microsoftStore.observe?.(JSON.parse(JSON.stringify(notification)), context);
  };
  /** Merges the event, or another query of the store, with the stored purchase. */
  const record = async (source: () => Promise<{ observations: readonly Observation[] } | undefined>) => {
    const { observations = [] } = (await source()) ?? {};
    const state = mergeAll([{ ...observation, purchase, transactions: [payment] }, ...observations]);
    return { purchase: state?.purchase, transactions: state?.transactions.map(({ transaction }) => transaction) };
  };
  return { observe, record, observation, purchase, payment, eventDate, context };
}

const beforeClawback: Purchase['beforeClawback'] = { renewalIntent: 'Renew' };
const refundAt = (date: number): Transaction['clawbacks'] => ({ earlier: { date, endsAccess: true } });

const mergeAll = (list: readonly Observation[]) =>
  list.reduce<PurchaseState | undefined>((state, { refreshToken: _token, ...next }) => merge(state, next), undefined);

const advanceToEvent = async () => await microsoft.advance('PT2H');
const advancePastKeyExpiration = async () => await microsoft.advance('P31D');

describe('observe (Microsoft Store)', () => {
  it.each(['Revoked', 'Returned'])('ends the purchase of a %s event before the store does', async (state) => {
    const { observe, record, payment, eventDate } = await createClawback(state);
    await advanceToEvent();
    expect(await observe()).toMatchObject({ reason: 'REFUNDED' });
    expect(await record(observe)).toMatchObject({
      purchase: { endedAt: eventDate, cancelationReason: 'Customer', renewalIntent: 'Lapse' },
      transactions: [{ ...payment, refundedAt: eventDate }],
    });
  });

  it('keeps access for a clawback event of type Refunded', async () => {
    const { observe, record, payment, eventDate } = await createClawback('Refunded');
    await advanceToEvent();
    const { purchase, transactions } = await record(observe);
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions).toMatchObject([{ ...payment, refundedAt: eventDate }]);
  });

  it.each(['PT2H', 'P5D'])('ends a refunded product that the store no longer lists (%s)', async (delay) => {
    const { observe, record, eventDate } = await createClawback('Refunded', {
      order: { type: 'non consumable', productId: `9NBLGG${delay}` },
      refreshToken: { productId: '9NBLGGH5ZZZZ' },
    });
    await microsoft.advance(delay);
    expect(await record(observe)).toMatchObject({
      purchase: { endedAt: eventDate, cancelationReason: 'Customer' },
      transactions: [{ refundedAt: eventDate }],
    });
  });

  it('keeps access that the store reports a day after a clawback event', async () => {
    const { observe, record, observation, eventDate } = await createClawback('Revoked');
    await microsoft.advance('P2D');
    const { purchase, transactions } = await record(observe);
    expect(purchase).toMatchObject(observation.purchase);
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions).toMatchObject([{ refundedAt: eventDate }]);
  });

  it.each<[object, object]>([
    [{ part: 0.25 }, { amountMicros: 2_500_000 }],
    [{}, {}],
  ])('refunds a part of the payment (%j)', async (partialRefund, amount) => {
    const { observe, record, eventDate } = await createClawback('Revoked', {
      payment: { amountMicros: 10_000_000, currency: 'EUR' },
    });
    await advanceToEvent();
    const { purchase, transactions } = await record(() => observe({ partialRefund }));
    expect(purchase).toMatchObject({ endedAt: eventDate });
    expect(transactions).toHaveLength(1);
    expect(transactions?.[0]).not.toHaveProperty('refundedAt');
    expect(transactions?.[0]?.partialRefunds).toEqual([{ id: 'event', date: eventDate, ...amount }]);
  });

  it('refunds the stored purchase if the StoreID key has expired', async () => {
    const { observe, record, purchase, eventDate } = await createClawback('Revoked');
    await advancePastKeyExpiration();
    expect(await record(observe)).toMatchObject({
      purchase: { ...purchase, endedAt: eventDate, cancelationReason: 'Customer', renewalIntent: 'Lapse' },
      transactions: [{ refundedAt: eventDate }],
    });
  });

  it.each([
    ['queried', advanceToEvent],
    ['stored', advancePastKeyExpiration],
  ])('restores a %s purchase after a reversed chargeback', async (_source, advance) => {
    const { observe, record, observation } = await createClawback('ChargebackReversal', {
      purchase: { endedAt: startTime, cancelationReason: 'Customer', renewalIntent: 'Lapse', beforeClawback },
      payment: { refundedAt: startTime, clawbacks: refundAt(startTime) },
    });
    await advance();
    expect(await observe()).toMatchObject({ reason: 'OTHER' });
    const { purchase, transactions } = await record(observe);
    expect(purchase).toMatchObject(observation.purchase);
    expect(purchase).not.toHaveProperty('endedAt');
    expect(purchase).not.toHaveProperty('renewalIntentChangeDate');
    expect(transactions).toHaveLength(1);
    expect(transactions?.[0]).not.toHaveProperty('refundedAt');
  });

  it.each<[states: string[], refund: number | undefined, end: number | undefined]>([
    [['Revoked'], 0, 0],
    [['Refunded'], 0, undefined],
    [['Revoked', 'ChargebackReversal'], undefined, undefined],
    [['Revoked', 'ChargebackReversal', 'Revoked'], 2, 2],
    // A refund and a chargeback: the reversal of the chargeback keeps the refund.
    [['Refunded', 'Revoked'], 0, 1],
    [['Revoked', 'Refunded'], 0, 0],
    [['Refunded', 'Revoked', 'ChargebackReversal'], 0, undefined],
    [['Revoked', 'Refunded', 'ChargebackReversal'], 1, undefined],
    [['Returned', 'Revoked', 'ChargebackReversal', 'ChargebackReversal'], undefined, undefined],
    // A chargeback with a refund that Microsoft issued later. `Refunded` leaves the customer the product.
    [['Chargeback', 'Refunded', 'ChargebackReversal'], 1, undefined],
    [['Chargeback', 'Revoked', 'ChargebackReversal'], 1, 1],
    [['Revoked', 'Chargeback', 'ChargebackReversal'], 0, 0],
    [['Chargeback', 'ChargebackReversal', 'Revoked', 'Chargeback'], 2, 2],
  ])('applies %j in any order, if workers have read the purchase before', async (events, refund, end) => {
    const { observe, observation, context } = await createClawback('Revoked');
    const observations = [observation];
    const dates: number[] = [];
    for (const name of events) {
      await microsoft.advance('PT1H');
      dates.push(microsoft.clock.now() - minuteMs);
      // A chargeback has the state of a refund and another source. A notification of an earlier build lacks the source.
      const hasSource = events.includes('Chargeback');
      const state = name === 'Chargeback' ? 'Revoked' : name;
      const payload = {
        state,
        eventDate: dates.at(-1),
        ...(hasSource && { isChargeback: name.startsWith('Chargeback') }),
      };
      const event = await observe(payload, `event ${dates.length}`);
      observations.push(...(event?.observations ?? []));
    }
    await microsoft.advance('PT1H');
    observations.push(...((await microsoftStore.refresh?.(observation.refreshToken ?? {}, context)) ?? []));
    const merged = mergeAll(observations);
    expect(merged?.transactions.map(({ transaction }) => transaction.refundedAt)).toEqual([dates[refund ?? -1]]);
    expect(merged?.purchase.endedAt).toBe(dates[end ?? -1]);
    expect(merged?.purchase.renewalIntent).toBe(end === undefined ? observation.purchase.renewalIntent : 'Lapse');
    const orders = fc.shuffledSubarray([...observations, ...observations], { minLength: observations.length * 2 });
    fc.assert(fc.property(orders, (list) => expect(mergeAll(list)).toEqual(merged)));
  });

  it('keeps access for a refund that was reversed before its event is processed', async () => {
    const { observe, record, eventDate } = await createClawback('Revoked', {
      payment: { clawbacks: { later: { date: startTime + 2 * hourMs, isReversal: true } } },
    });
    await advanceToEvent();
    const { purchase, transactions } = await record(() => observe({ eventDate }));
    expect(purchase).not.toHaveProperty('endedAt');
    expect(transactions?.[0]).not.toHaveProperty('refundedAt');
  });

  it('keeps a stored refund for an unknown state', async () => {
    const { observe, record } = await createClawback('Pondered', {
      payment: { refundedAt: startTime, clawbacks: refundAt(startTime) },
    });
    await advanceToEvent();
    expect(await observe()).toMatchObject({ reason: 'OTHER' });
    expect(await record(observe)).toMatchObject({ transactions: [{ refundedAt: startTime }] });
  });

  it.each([
    ['refunds the payment with the period start of the event', startTime + minuteMs, true],
    ['refunds no payment for the start of another period', startTime + 31 * dayMs, false],
  ])('%s', async (_title, periodStart, isRefunded) => {
    const { observe, record } = await createClawback('Revoked');
    await advanceToEvent();
    const { purchase, transactions } = await record(() => observe({ transactionId: undefined, periodStart }));
    expect(transactions?.map(({ refundedAt }) => refundedAt !== undefined)).toEqual([isRefunded]);
    expect(purchase?.endedAt !== undefined).toBe(isRefunded);
  });

  it('returns no observations for a purchase that is not stored', async () => {
    const { observe } = await createClawback('Revoked');
    expect(await observe({ purchaseId: 'store_c:another' })).toEqual({ reason: 'REFUNDED', observations: [] });
  });

  it('throws if the store is unavailable', async () => {
    const { observe } = await createClawback('Revoked');
    await microsoft.addFault({ fault: 'down', times: 5 });
    await expect(observe()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    await microsoft.control('DELETE', '/control/faults');
  });
});

describe('refund that an earlier build of the service has stored without its event', () => {
  const refundedAt = startTime + minuteMs;
  const earlier = {
    purchase: { endedAt: refundedAt, cancelationReason: 'Customer', renewalIntent: 'Lapse' },
    payment: { refundedAt },
  };

  it.each([
    ['PT2H', refundedAt],
    ['P2D', undefined],
  ])('stays after a query, which decides the access a day later (%s)', async (delay, endedAt) => {
    const { record, observation, context } = await createClawback('Earlier', earlier);
    await microsoft.advance(delay);
    const observations = await microsoftStore.refresh?.(observation.refreshToken ?? {}, context);
    const { purchase, transactions } = await record(async () => ({ observations: observations ?? [] }));
    expect(purchase?.endedAt).toBe(endedAt);
    expect(transactions).toMatchObject([{ refundedAt }]);
  });

  it('stays after a query of another period', async () => {
    const order = { period: 'P1W', autoRenew: true };
    const { record, observation, context } = await createClawback('Renewed', { order, payment: { refundedAt } });
    await microsoft.advance('P8D');
    const observations = await microsoftStore.refresh?.(observation.refreshToken ?? {}, context);
    const { transactions } = await record(async () => ({ observations: observations ?? [] }));
    expect(transactions?.map((transaction) => transaction.refundedAt)).toEqual([refundedAt, undefined]);
  });

  it.each<[state: string, payload: object, refundedAt: number | undefined, parts: number]>([
    ['Revoked', { isChargeback: true }, refundedAt, 0],
    ['Refunded', { isChargeback: false }, refundedAt, 0],
    ['Revoked', { partialRefund: { part: 0.5 } }, refundedAt, 1],
    ['ChargebackReversal', { isChargeback: true }, undefined, 0],
  ])('stays after a later event, unless it is its reversal (%s, %j)', async (state, payload, expected, parts) => {
    const { observe, record, observation, context } = await createClawback('Earlier', earlier);
    await advanceToEvent();
    const { observations = [] } = (await observe({ state, ...payload })) ?? {};
    const queried = (await microsoftStore.refresh?.(observation.refreshToken ?? {}, context)) ?? [];
    for (const sources of [
      [...observations, ...queried],
      [...queried, ...observations],
    ]) {
      const { transactions } = await record(async () => ({ observations: sources }));
      expect(transactions?.map((transaction) => transaction.refundedAt)).toEqual([expected]);
      expect(transactions?.[0]?.partialRefunds ?? []).toHaveLength(parts);
    }
  });
});

describe('validate (Microsoft Store) of a refunded purchase', () => {
  const validate = async (purchaseId: string, context: StoreContext) =>
    await microsoftStore.validate(await microsoft.getRequest(withoutPlatform(purchaseId)), context);

  it('keeps the stored refund and the end of a consumed product', async () => {
    const { context, record, eventDate, purchase } = await createClawback('Kept', {
      order: { type: 'consumable', quantity: 1 },
      payment: { refundedAt: startTime + hourMs, clawbacks: refundAt(startTime + hourMs) },
    });
    await microsoft.act(withoutPlatform(purchase.purchaseId), 'consume');
    await microsoft.advance('P3D');
    expect(await record(() => validate(purchase.purchaseId, context))).toMatchObject({
      purchase: { endedAt: eventDate, cancelationReason: 'Customer', isConsumed: true },
      transactions: [{ refundedAt: eventDate }],
    });
  });

  it('keeps the end by a partial refund until the store has updated its state', async () => {
    const endedAt = startTime + hourMs;
    const { context, record, purchase } = await createClawback('Kept in part', {
      payment: {
        partialRefunds: [{ id: 'event', date: endedAt }],
        clawbacks: { event: { date: endedAt, isPartial: true, endsAccess: true } },
      },
    });
    await advanceToEvent();
    const result = await record(() => validate(purchase.purchaseId, context));
    expect(result.purchase).toMatchObject({ endedAt, renewalIntent: 'Lapse' });
  });
});
