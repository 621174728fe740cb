import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../../../lib/foundation/time.ts';
import { type EncryptedObservation, merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import { listUnreversed } from '../../../lib/purchases/refunds.ts';
import type { Clawback, Transaction } from '../../../lib/purchases/transaction.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { buildObservations, historyActions } from '../../../testing/subscription-history.ts';

const mergeAll = (observations: readonly EncryptedObservation[]): PurchaseState | undefined =>
  observations.reduce<PurchaseState | undefined>((state, observation) => merge(state, observation), undefined);

/** Source of the amounts of an observation's transactions. */
const amountSources = ['store', 'none', 'client', 'inferred'] as const;

function withAmountSource(
  observation: EncryptedObservation,
  source: (typeof amountSources)[number],
  amountMicros: number,
): EncryptedObservation {
  if (source === 'store') return observation;
  const transactions = observation.transactions.map(({ currency, amountMicros: _amount, ...rest }) => ({
    ...rest,
    ...(source !== 'none' && { currency: currency ?? 'USD', amountMicros }),
    ...(source === 'client' && { isReportedAmount: true }),
  }));
  return {
    ...observation,
    transactions,
    ...(source === 'inferred' && { hasInferredTransactions: true as const }),
  };
}

/** Lists each transaction under its id, or under an id that a restore has given it, with the date of the restore. */
function withTransactionIds(
  { purchase, transactions, ...observation }: EncryptedObservation,
  restore: number,
): EncryptedObservation {
  const toId = (id: string) => (restore === 0 ? id : `${id}.${restore}`);
  return {
    ...observation,
    isOrderedByTransaction: true,
    purchase: { ...purchase, transactionId: toId(purchase.transactionId) },
    transactions: transactions.map((transaction) => ({
      ...transaction,
      transactionId: toId(transaction.transactionId),
      saleId: `sale of ${transaction.transactionId}`,
      purchaseDate: transaction.purchaseDate + restore * dayMs,
    })),
  };
}

const histories = fc.array(fc.constantFrom(...historyActions), { maxLength: 12 });

const shuffle = <T>(values: readonly T[], choices: Iterator<number, unknown, undefined>): T[] =>
  values
    .map((value) => ({ value, position: Number(choices.next().value) }))
    .sort((a, b) => a.position - b.position)
    .map(({ value }) => value);

/** Applies the events in the order of their dates. Lists the refunds that no reversal returned, the earliest first. */
function recountRefunds(events: readonly Clawback[]): readonly Clawback[] {
  const refunds: Clawback[] = [];
  const dates = [...new Set(events.map(({ date }) => date))].sort((a, b) => a - b);
  for (const day of dates) {
    const ofDay = events.filter(({ date }) => date === day);
    refunds.push(...ofDay.filter(({ isReversal }) => !isReversal));
    for (const _reversal of ofDay.filter(({ isReversal }) => isReversal)) {
      const isReversible = ({ isPartial, endsAccess, isChargeback }: Clawback): boolean =>
        !isPartial && (isChargeback === true || (isChargeback === undefined && endsAccess === true));
      const index = refunds.findLastIndex(isReversible);
      if (index >= 0) refunds.splice(index, 1);
    }
  }
  return refunds;
}

describe('merge', () => {
  it('returns the same state for any order and repetition of the observations', () => {
    fc.assert(
      fc.property(histories, fc.infiniteStream(fc.nat()), (actions, choices) => {
        const observations = buildObservations(actions);
        const shuffled = shuffle([...observations, ...observations], choices);
        expect(mergeAll(shuffled)).toEqual(mergeAll(observations));
      }),
      sampleRuns({ sample: 100, full: 500 }),
    );
  });

  it('returns the same transactions in any order, with amounts of any source', () => {
    const sources = fc.array(fc.tuple(fc.constantFrom(...amountSources), fc.integer({ min: 1, max: 3 })), {
      minLength: 13,
      maxLength: 13,
    });
    fc.assert(
      fc.property(histories, sources, fc.infiniteStream(fc.nat()), (actions, sourceByIndex, choices) => {
        const observations = buildObservations(actions).map((observation, index) =>
          withAmountSource(observation, ...(sourceByIndex[index] ?? ['store', 1])),
        );
        const shuffled = shuffle([...observations, ...observations], choices);
        expect(mergeAll(shuffled)).toEqual(mergeAll(observations));
      }),
      sampleRuns({ sample: 100, full: 500 }),
    );
  });

  it('returns the reason of a voided payment for an end without a specific reason, in any order', () => {
    const reasons = fc.constantFrom('Unknown', 'System', 'Customer', undefined);
    const variants = fc.array(fc.record({ reason: reasons, isVoided: fc.boolean() }), { minLength: 26, maxLength: 26 });
    fc.assert(
      fc.property(histories, variants, fc.infiniteStream(fc.nat()), (actions, list, choices) => {
        // Two at the same time: a query, and a notification whose query saw another reason.
        const twice = buildObservations(actions).flatMap((observation) => [observation, observation]);
        const observations = twice.map(({ purchase, transactions, ...rest }, index): EncryptedObservation => {
          const { reason, isVoided } = list[index] ?? {};
          const { cancelationReason: _reason, ...active } = purchase;
          return {
            ...rest,
            purchase: { ...active, ...(reason && { cancelationReason: reason }) },
            transactions: transactions.map((payment) => ({ ...payment, ...(isVoided && { voidReason: 'Developer' }) })),
          };
        });
        const merged = mergeAll(observations);
        expect(mergeAll(shuffle([...observations, ...observations], choices))).toEqual(merged);
        const latest = merged?.transactions.find(
          ({ transaction }) => transaction.transactionId === merged.purchase.transactionId,
        );
        if (latest?.transaction.voidReason)
          expect(['Developer', 'Customer', undefined]).toContain(merged?.purchase.cancelationReason);
      }),
      sampleRuns({ sample: 100, full: 500 }),
    );
  });

  it('keeps refunds that only events report, and the end by them, unless they were reversed, in any order', () => {
    const events = fc.record({
      event: fc.constantFrom(
        { isChargeback: false },
        { endsAccess: true },
        { endsAccess: true, isChargeback: false },
        { endsAccess: true, isChargeback: true },
        { endsAccess: true, isPartial: true },
        { isReversal: true },
        null,
      ),
      day: fc.nat({ max: 3 }),
      isConsumed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(events, { minLength: 1 }), fc.infiniteStream(fc.nat()), (list, choices) => {
        const all = list.map(({ event, day }, index) =>
          event ? { [`${index}`]: { ...event, date: startDate + day * dayMs } as Clawback } : {},
        );
        // Several at the same time, and queries between them. None has read the events of the others.
        const observations = list.map(({ event, isConsumed }, index) => {
          const observed = createObservation({ platform: 'store_c', isConsumed, renewalIntent: 'Renew' });
          const clawbacks = all[index];
          const payment = createTransaction(observed.purchase, event && clawbacks ? { clawbacks } : {});
          return { ...observed, asOf: startDate + Math.floor(index / 2) * dayMs, transactions: [payment] };
        });
        const bought = createObservation({ platform: 'store_c' }, { asOf: startDate - 1 });
        const merged = mergeAll([bought, ...observations]);
        const shuffled = shuffle([bought, ...observations, ...observations], choices);
        expect(mergeAll([bought, ...shuffled])).toEqual(merged);
        const refunds = recountRefunds(all.flatMap((clawbacks) => Object.values(clawbacks)));
        const { refundedAt } = merged?.transactions[0]?.transaction ?? {};
        expect(refundedAt).toBe(refunds.find(({ isPartial }) => !isPartial)?.date);
        const { endedAt, isConsumed, renewalIntent } = merged?.purchase ?? {};
        const end = refunds.find(({ endsAccess }) => endsAccess || isConsumed)?.date;
        expect(isConsumed || endedAt !== undefined ? [end] : [undefined, end]).toContain(endedAt);
        expect(renewalIntent === 'Lapse').toBe(endedAt !== undefined);
      }),
      sampleRuns({ sample: 100, full: 500 }),
    );
  });

  it('reverses the latest chargeback of the whole payment before the reversal, or at its time', () => {
    const [refund, partial] = [{ date: 1 }, { date: 2, isPartial: true as const }];
    const [chargeback, reversal] = [
      { date: 3, isChargeback: true },
      { date: 4, isReversal: true as const },
    ];
    expect(listUnreversed({ a: refund, b: partial, c: chargeback, d: reversal })).toEqual([partial, refund]);
    expect(listUnreversed({ a: { ...reversal, date: 0 }, b: chargeback, c: reversal })).toEqual([]);
    expect(listUnreversed({ a: { ...reversal, date: 0 }, b: chargeback })).toEqual([chargeback]);
    expect(listUnreversed({ a: { ...chargeback, date: 4 }, b: reversal })).toEqual([]);
    expect(
      listUnreversed({ a: chargeback, b: { ...refund, date: 3, endsAccess: true, isChargeback: false } }),
    ).toHaveLength(2);
    expect(listUnreversed({ a: refund, b: reversal })).toEqual([refund]);
  });

  it('returns one transaction for each sale, with its first id, whatever ids and order the observations have', () => {
    const restores = fc.array(fc.nat({ max: 2 }), { minLength: 13, maxLength: 13 });
    fc.assert(
      fc.property(histories, restores, fc.infiniteStream(fc.nat()), (actions, restoreByIndex, choices) => {
        const originals = buildObservations(actions).map((observation) => withTransactionIds(observation, 0));
        const observations = originals.map((observation, index) =>
          withTransactionIds(observation, restoreByIndex[index] ?? 0),
        );
        const shuffled = shuffle([...observations, ...originals, ...observations], choices);
        expect(mergeAll(shuffled)).toEqual(mergeAll(originals));
      }),
      sampleRuns({ sample: 100, full: 500 }),
    );
  });

  it('merges a sale that an earlier release has stored under two ids', () => {
    const { purchase } = createObservation();
    const listAs = (...transactions: Partial<Transaction>[]) =>
      createObservation({}, { transactions: transactions.map((changes) => createTransaction(purchase, changes)) });
    const stored = listAs({ transactionId: 'store_a:11' }, { transactionId: 'store_a:12' });
    const wholePurchase = listAs({ transactionId: 'store_a:10', saleId: purchase.purchaseId });
    expect(merge(merge(undefined, stored), wholePurchase).transactions).toHaveLength(1);
    const listed = [
      listAs({ transactionId: 'store_a:11', saleId: '77' }),
      listAs({ transactionId: 'store_a:12', saleId: '77' }),
    ];
    for (const observations of [listed, listed.toReversed()])
      expect(mergeAll([stored, ...observations])?.transactions).toMatchObject([
        { transaction: { transactionId: 'store_a:11', saleId: '77' } },
      ]);
  });

  it('adds the refund of a later observation without amount and keeps the amount', () => {
    const bought = createObservation();
    const { currency: _currency, amountMicros: _amount, ...payment } = createTransaction(bought.purchase);
    const refund = createObservation(
      { endedAt: startDate + dayMs },
      { asOf: startDate + dayMs, transactions: [{ ...payment, refundedAt: startDate + dayMs }] },
    );
    for (const observations of [
      [bought, refund],
      [refund, bought],
    ]) {
      const [observed] = mergeAll(observations)?.transactions ?? [];
      expect(observed?.transaction).toMatchObject({ amountMicros: 4_990_000, refundedAt: startDate + dayMs });
    }
  });

  it('prefers reported transactions to inferred transactions of a later observation', () => {
    const refunded = createObservation(
      {},
      {
        asOf: startDate + dayMs,
        transactions: [createTransaction(createObservation().purchase, { refundedAt: startDate + dayMs })],
      },
    );
    const inferred = createObservation(
      {},
      {
        asOf: startDate + 2 * dayMs,
        hasInferredTransactions: true,
        transactions: [
          createTransaction(createObservation().purchase, { amountMicros: 5_990_000, purchaseDate: startDate + 5000 }),
        ],
      },
    );
    for (const observations of [
      [refunded, inferred],
      [inferred, refunded],
    ]) {
      expect(mergeAll(observations)?.transactions).toMatchObject(
        [refunded.transactions[0]].map((transaction) => ({ transaction })),
      );
    }
  });

  it('keeps the first amount of a client, so that a resubmitted receipt does not change past revenue', () => {
    const reports = [4_990_000, 999_000_000].map((amountMicros, index) => {
      const transactions = [createTransaction(createObservation().purchase, { amountMicros, isReportedAmount: true })];
      return createObservation({}, { asOf: startDate + index * dayMs, transactions });
    });
    for (const observations of [reports, reports.toReversed()]) {
      expect(mergeAll(observations)?.purchase.amountMicros).toBe(4_990_000);
    }
  });

  it('does not overwrite a newer observation with an older one', () => {
    const canceled = createObservation({ renewalIntent: 'Lapse' }, { asOf: startDate + 2 * dayMs });
    const late = createObservation({ renewalIntent: 'Renew' }, { asOf: startDate + dayMs });
    expect(merge(merge(undefined, canceled), late).purchase.renewalIntent).toBe('Lapse');
  });

  it('keeps the transactions of all observations', () => {
    const first = createObservation();
    const renewed = createObservation(
      { transactionId: 'store_a:2', lastRenewalDate: startDate + 31 * dayMs },
      { asOf: startDate + 31 * dayMs },
    );
    const ids = merge(merge(undefined, first), renewed).transactions.map(
      ({ transaction }) => transaction.transactionId,
    );
    expect(ids).toEqual(['store_a:1', 'store_a:2']);
  });

  it('keeps the product type if a later observation lacks it, in either order', () => {
    const { productType: _type, ...withoutType } = createObservation().purchase;
    const complete = createObservation({ productType: 'consumable' });
    const later = { ...complete, asOf: startDate + dayMs, purchase: withoutType };
    for (const observations of [
      [complete, later],
      [later, complete],
    ]) {
      expect(mergeAll(observations)?.purchase.productType).toBe('consumable');
    }
  });

  it('adds the refund of a past period without its state, in either order', () => {
    const first = createObservation();
    const renewed = createObservation({ transactionId: 'store_a:2' }, { asOf: startDate + 31 * dayMs });
    const refund = createObservation(
      { endedAt: startDate + 33 * dayMs },
      {
        transactionsAsOf: startDate + 33 * dayMs,
        transactions: [createTransaction(first.purchase, { refundedAt: startDate + 33 * dayMs })],
      },
    );
    for (const observations of [
      [first, renewed, refund],
      [refund, renewed, first],
    ]) {
      const state = mergeAll(observations);
      expect(state?.purchase).toMatchObject({ transactionId: 'store_a:2' });
      expect(state?.purchase.endedAt).toBeUndefined();
      expect(state?.transactions[0]?.transaction.refundedAt).toBe(startDate + 33 * dayMs);
    }
  });

  it('prefers the amount of the store to the amount of the client, in either order', () => {
    const { purchase } = createObservation();
    const reported = createObservation(
      {},
      {
        asOf: startDate + dayMs,
        transactions: [createTransaction(purchase, { amountMicros: 1, isReportedAmount: true })],
      },
    );
    const fromStore = createObservation();
    for (const observations of [
      [reported, fromStore],
      [fromStore, reported],
    ]) {
      expect(mergeAll(observations)?.transactions[0]?.transaction.amountMicros).toBe(4_990_000);
      expect(mergeAll(observations)?.purchase.amountMicros).toBe(4_990_000);
    }
  });
});
