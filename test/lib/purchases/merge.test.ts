import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type EncryptedObservation, merge, type PurchaseState } from '../../../lib/purchases/merge.ts';
import { toInferredAsOf } from '../../../lib/purchases/merge-transactions.ts';
import { createObservation, createTransaction, dayMs, startDate } from '../../../testing/given.ts';
import { buildObservations, historyActions } from '../../../testing/subscription-history.ts';

const mergeAll = (observations: readonly EncryptedObservation[]): PurchaseState | undefined =>
  observations.reduce<PurchaseState | undefined>((known, look) => merge(known, look), undefined);

/** How much a look knows of the payments that it shows. */
const knowledge = ['all', 'no amount', 'what the client says', 'a guess'] as const;

function knowing(
  look: EncryptedObservation,
  known: (typeof knowledge)[number],
  amountMicros: number,
): EncryptedObservation {
  if (known === 'all') return look;
  const transactions = look.transactions.map(({ currency, amountMicros: _amount, ...rest }) => ({
    ...rest,
    ...(known !== 'no amount' && { currency: currency ?? 'USD', amountMicros }),
    ...(known === 'what the client says' && { isReportedAmount: true }),
  }));
  return { ...look, transactions, ...(known === 'a guess' && { transactionsAsOf: toInferredAsOf(look.asOf) }) };
}

const lives = fc.array(fc.constantFrom(...historyActions), { maxLength: 12 });

describe('merge', () => {
  it('ends in the same state whatever the order and the repetition of the observations', () => {
    fc.assert(
      fc.property(lives, fc.infiniteStream(fc.nat()), (actions, choices) => {
        const observations = buildObservations(actions);
        const twice = [...observations, ...observations].map((look) => ({ look, place: choices.next().value }));
        const shuffled = twice.sort((a, b) => a.place - b.place).map(({ look }) => look);
        expect(mergeAll(shuffled)).toEqual(mergeAll(observations));
      }),
      { numRuns: 500 },
    );
  });

  it('ends in the same payments in any order also where looks know nothing of their amounts, or guess', () => {
    const known = fc.array(fc.tuple(fc.constantFrom(...knowledge), fc.integer({ min: 1, max: 3 })), {
      minLength: 13,
      maxLength: 13,
    });
    fc.assert(
      fc.property(lives, known, fc.infiniteStream(fc.nat()), (actions, knows, choices) => {
        const observations = buildObservations(actions).map((look, index) =>
          knowing(look, ...(knows[index] ?? ['all', 1])),
        );
        const placed = [...observations, ...observations].map((look) => ({ look, place: choices.next().value }));
        const shuffled = placed.sort((a, b) => a.place - b.place).map(({ look }) => look);
        expect(mergeAll(shuffled)).toEqual(mergeAll(observations));
      }),
      { numRuns: 500 },
    );
  });

  it('takes a refund from a later look that does not know the amount, and keeps the amount', () => {
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
      const [known] = mergeAll(observations)?.transactions ?? [];
      expect(known?.transaction).toMatchObject({ amountMicros: 4_990_000, refundedAt: startDate + dayMs });
    }
  });

  it('keeps refund, date and amount that the store told while later looks only guess', () => {
    const refunded = createObservation(
      {},
      {
        asOf: startDate + dayMs,
        transactions: [createTransaction(createObservation().purchase, { refundedAt: startDate + dayMs })],
      },
    );
    const guess = createObservation(
      {},
      {
        asOf: startDate + 2 * dayMs,
        transactionsAsOf: toInferredAsOf(startDate + 2 * dayMs),
        transactions: [
          createTransaction(createObservation().purchase, { amountMicros: 5_990_000, purchaseDate: startDate + 5000 }),
        ],
      },
    );
    for (const observations of [
      [refunded, guess],
      [guess, refunded],
    ]) {
      expect(mergeAll(observations)?.transactions).toMatchObject(
        [refunded.transactions[0]].map((transaction) => ({ transaction })),
      );
    }
  });

  it('keeps the first amount that a client reported: a receipt shown again moves no money of a past day', () => {
    const reports = [4_990_000, 999_000_000].map((amountMicros, index) => {
      const transactions = [createTransaction(createObservation().purchase, { amountMicros, isReportedAmount: true })];
      return createObservation({}, { asOf: startDate + index * dayMs, transactions });
    });
    for (const observations of [reports, reports.toReversed()]) {
      expect(mergeAll(observations)?.purchase.amountMicros).toBe(4_990_000);
    }
  });

  it('changes nothing when an observation is merged twice', () => {
    fc.assert(
      fc.property(lives, (actions) => {
        const known = mergeAll(buildObservations(actions));
        for (const look of buildObservations(actions)) expect(merge(known, look)).toEqual(known);
      }),
    );
  });

  it('never lets an older look overwrite a newer one', () => {
    const cancelled = createObservation({ renewalIntent: 'Lapse' }, { asOf: startDate + 2 * dayMs });
    const late = createObservation({ renewalIntent: 'Renew' }, { asOf: startDate + dayMs });
    expect(merge(merge(undefined, cancelled), late).purchase.renewalIntent).toBe('Lapse');
  });

  it('keeps every transaction that any look has shown', () => {
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

  it('keeps the end of a non-renewing subscription that only one look was told of', () => {
    const { expirationDate: _end, ...endless } = createObservation({
      productType: 'non renewing subscription',
    }).purchase;
    const told = createObservation({ productType: 'non renewing subscription' });
    const later = { ...told, asOf: startDate + dayMs, purchase: endless };
    for (const observations of [
      [told, later],
      [later, told],
    ]) {
      expect(mergeAll(observations)?.purchase.expirationDate).toBe(startDate + 31 * dayMs);
    }
  });

  it('keeps the type of a product that only one look was told of, in either order', () => {
    const { productType: _type, ...untold } = createObservation().purchase;
    const told = createObservation({ productType: 'consumable' });
    const later = { ...told, asOf: startDate + dayMs, purchase: untold };
    for (const observations of [
      [told, later],
      [later, told],
    ]) {
      expect(mergeAll(observations)?.purchase.productType).toBe('consumable');
    }
  });

  it('takes the refund of a past period from a look that knows nothing of the present one, in either order', () => {
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
      const known = mergeAll(observations);
      expect(known?.purchase).toMatchObject({ transactionId: 'store_a:2' });
      expect(known?.purchase.endedAt).toBeUndefined();
      expect(known?.transactions[0]?.transaction.refundedAt).toBe(startDate + 33 * dayMs);
    }
  });

  it("prefers the store's amount to the one that the client reported, in either order", () => {
    const { purchase } = createObservation();
    const reported = createObservation(
      {},
      {
        asOf: startDate + dayMs,
        transactions: [createTransaction(purchase, { amountMicros: 1, isReportedAmount: true })],
      },
    );
    const told = createObservation();
    for (const observations of [
      [reported, told],
      [told, reported],
    ]) {
      expect(mergeAll(observations)?.transactions[0]?.transaction.amountMicros).toBe(4_990_000);
      expect(mergeAll(observations)?.purchase.amountMicros).toBe(4_990_000);
    }
  });
});
