import { describe, expect, it } from '@jest/globals';
import { withoutPlatform } from '../../../../lib/foundation/platform.ts';
import { dayMs, hourMs, minuteMs } from '../../../../lib/foundation/time.ts';
import { merge, type PurchaseState } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
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
  const context: StoreContext = {
    ...microsoft.createContext(),
    findPurchase: async (id) => (id === purchase.purchaseId ? purchase : undefined),
    findRefreshToken: async (id) => (id === purchase.purchaseId ? observation.refreshToken : undefined),
    listTransactions: async (id) => (id === purchase.purchaseId ? [payment] : []),
  };
  const eventDate = startTime + hourMs;
  const { purchaseId, transactionId } = purchase;
  const payload = { state, eventDate, purchaseId, transactionId, messageId: 'id', popReceipt: 'receipt' };
  const observe = async (payloadChanges: object = {}) => {
    const notification = {
      key: 'event',
      type: `clawback.${state}`,
      occurredAt: startTime,
      payload: { ...payload, ...payloadChanges },
    };
    return await microsoftStore.observe?.(JSON.parse(JSON.stringify(notification)), context);
  };
  return { observe, observation, purchase, payment, eventDate, context };
}

const advanceToEvent = async () => await microsoft.advance('PT2H');
const advancePastKeyExpiration = async () => await microsoft.advance('P31D');

describe('observe (Microsoft Store)', () => {
  it.each(['Revoked', 'Returned'])('ends the purchase of a %s event before the store does', async (state) => {
    const { observe, payment, eventDate } = await createClawback(state);
    await advanceToEvent();
    const ended = { endedAt: eventDate, cancelationReason: 'Customer', renewalIntent: 'Lapse' };
    expect(await observe()).toMatchObject({
      reason: 'REFUNDED',
      observations: [{ purchase: ended, transactions: [{ ...payment, refundedAt: eventDate }] }],
    });
  });

  it('keeps access for a clawback event of type Refunded', async () => {
    const { observe, payment, eventDate } = await createClawback('Refunded');
    await advanceToEvent();
    const [observation] = (await observe())?.observations ?? [];
    expect(observation?.purchase).not.toHaveProperty('endedAt');
    expect(observation?.transactions).toMatchObject([{ ...payment, refundedAt: eventDate }]);
  });

  it.each<[object, object]>([
    [{ part: 0.25 }, { amountMicros: 2_500_000 }],
    [{}, {}],
  ])('refunds a part of the payment (%j)', async (partialRefund, amount) => {
    const { observe, eventDate } = await createClawback('Revoked', {
      payment: { amountMicros: 10_000_000, currency: 'EUR' },
    });
    await advanceToEvent();
    const [observation] = (await observe({ partialRefund }))?.observations ?? [];
    expect(observation?.purchase).toMatchObject({ endedAt: eventDate });
    expect(observation?.transactions).toHaveLength(1);
    expect(observation?.transactions[0]).not.toHaveProperty('refundedAt');
    expect(observation?.transactions[0]?.partialRefunds).toEqual([{ id: 'event', date: eventDate, ...amount }]);
  });

  it('refunds the stored purchase if the StoreID key has expired', async () => {
    const { observe, purchase, eventDate } = await createClawback('Revoked');
    await advancePastKeyExpiration();
    expect(await observe()).toMatchObject({
      observations: [
        {
          asOf: microsoft.clock.now(),
          purchase: { ...purchase, endedAt: eventDate, cancelationReason: 'Customer', renewalIntent: 'Lapse' },
          transactions: [{ refundedAt: eventDate }],
        },
      ],
    });
  });

  it.each([
    ['queried', advanceToEvent],
    ['stored', advancePastKeyExpiration],
  ])('restores a %s purchase after a reversed chargeback', async (_source, advance) => {
    const ended = { endedAt: startTime, cancelationReason: 'Customer' };
    const { observe } = await createClawback('ChargebackReversal', {
      purchase: ended,
      payment: { refundedAt: startTime },
    });
    await advance();
    const result = await observe();
    const [observation] = result?.observations ?? [];
    expect(result?.reason).toBe('OTHER');
    expect(observation?.purchase).not.toHaveProperty('endedAt');
    expect(observation?.purchase).not.toHaveProperty('cancelationReason');
    expect(observation?.transactions).toHaveLength(1);
    expect(observation?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it.each([
    [['Revoked'], true],
    [['Revoked', 'ChargebackReversal'], false],
    [['Revoked', 'ChargebackReversal', 'Revoked'], true],
  ])(
    'applies %j once and for all, in any order, if workers have read the purchase before',
    async (states, isRefunded) => {
      const { observe, observation, context } = await createClawback('Revoked');
      const observations = [observation];
      for (const state of states) {
        await microsoft.advance('PT1H');
        const event = await observe({ state, eventDate: microsoft.clock.now() - minuteMs });
        observations.push(...(event?.observations ?? []));
      }
      await microsoft.advance('PT1H');
      observations.push(...((await microsoftStore.refresh?.(observation.refreshToken ?? {}, context)) ?? []));
      const mergeAll = (list: readonly Observation[]) =>
        list.reduce<PurchaseState | undefined>(
          (state, { refreshToken: _token, ...next }) => merge(state, next),
          undefined,
        );
      const merged = mergeAll(observations);
      expect(merged?.transactions.map(({ transaction }) => transaction.refundedAt !== undefined)).toEqual([isRefunded]);
      for (const list of [observations.toReversed(), [...observations.slice(1), observation]])
        expect(mergeAll(list)).toEqual(merged);
    },
  );

  it('keeps access for a refund that was reversed before its event is processed', async () => {
    const { observe, eventDate } = await createClawback('Revoked', {
      payment: { refundReversedAt: startTime + 2 * hourMs },
    });
    await advanceToEvent();
    const result = await observe({ eventDate });
    expect(result?.observations[0]?.purchase).not.toHaveProperty('endedAt');
    expect(result?.observations[0]?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it('keeps a stored refund for an unknown state', async () => {
    const { observe } = await createClawback('Pondered', { payment: { refundedAt: startTime } });
    await advanceToEvent();
    expect(await observe()).toMatchObject({
      reason: 'OTHER',
      observations: [{ transactions: [{ refundedAt: startTime }] }],
    });
  });

  it.each([
    ['refunds the payment with the period start of the event', startTime + minuteMs, true],
    ['refunds no payment for the start of another period', startTime + 31 * dayMs, false],
  ])('%s', async (_title, periodStart, isRefunded) => {
    const { observe } = await createClawback('Revoked');
    await advanceToEvent();
    const [observation] = (await observe({ transactionId: undefined, periodStart }))?.observations ?? [];
    expect(observation?.transactions.map(({ refundedAt }) => refundedAt !== undefined)).toEqual([isRefunded]);
    expect(observation?.purchase.endedAt !== undefined).toBe(isRefunded);
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

describe('validate (Microsoft Store) of a refunded purchase', () => {
  it('keeps the stored refund and the end of a consumable', async () => {
    const { context, eventDate, purchase } = await createClawback('Kept', {
      order: { type: 'consumable', quantity: 1 },
      purchase: { endedAt: startTime + hourMs, cancelationReason: 'Customer' },
      payment: { refundedAt: startTime + hourMs },
    });
    const validation = await microsoftStore.validate(
      await microsoft.getRequest(withoutPlatform(purchase.purchaseId)),
      context,
    );
    expect(validation.observations).toMatchObject([
      { purchase: { endedAt: eventDate, cancelationReason: 'Customer' }, transactions: [{ refundedAt: eventDate }] },
    ]);
  });
  it('keeps the end by a partial refund until the store has updated its state', async () => {
    const endedAt = startTime + hourMs;
    const { context, purchase } = await createClawback('Kept in part', {
      purchase: { endedAt, cancelationReason: 'Customer' },
      payment: { partialRefunds: [{ id: 'event', date: endedAt }] },
    });
    await advanceToEvent();
    const request = await microsoft.getRequest(withoutPlatform(purchase.purchaseId));
    const { observations } = await microsoftStore.validate(request, context);
    expect(observations).toMatchObject([{ purchase: { endedAt, renewalIntent: 'Lapse' } }]);
  });
});
