import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { guessedAsOf } from '../../../lib/purchases/known-transactions.ts';
import { type Known, merge, type Seen } from '../../../lib/purchases/merge.ts';
import { day, paid, seenPurchase, start } from '../../support/given.ts';
import { lifeActions, observationsOf } from '../../support/life.ts';

const mergeAll = (looks: readonly Seen[]): Known | undefined =>
  looks.reduce<Known | undefined>((known, look) => merge(known, look), undefined);

/** How much a look knows of the payments that it shows. */
const knowledge = ['all', 'no amount', 'what the client says', 'a guess'] as const;

function knowing(look: Seen, known: (typeof knowledge)[number], amountMicros: number): Seen {
  if (known === 'all') return look;
  const transactions = look.transactions.map(({ currency, amountMicros: _amount, ...rest }) => ({
    ...rest,
    ...(known !== 'no amount' && { currency: currency ?? 'USD', amountMicros }),
    ...(known === 'what the client says' && { isReportedAmount: true }),
  }));
  return { ...look, transactions, ...(known === 'a guess' && { transactionsAsOf: guessedAsOf(look.asOf) }) };
}

const lives = fc.array(fc.constantFrom(...lifeActions), { maxLength: 12 });

describe('merge', () => {
  it('ends in the same state whatever the order and the repetition of the observations', () => {
    fc.assert(
      fc.property(lives, fc.infiniteStream(fc.nat()), (actions, choices) => {
        const looks = observationsOf(actions);
        const twice = [...looks, ...looks].map((look) => ({ look, place: choices.next().value }));
        const shuffled = twice.sort((a, b) => a.place - b.place).map(({ look }) => look);
        expect(mergeAll(shuffled)).toEqual(mergeAll(looks));
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
        const looks = observationsOf(actions).map((look, index) => knowing(look, ...(knows[index] ?? ['all', 1])));
        const placed = [...looks, ...looks].map((look) => ({ look, place: choices.next().value }));
        const shuffled = placed.sort((a, b) => a.place - b.place).map(({ look }) => look);
        expect(mergeAll(shuffled)).toEqual(mergeAll(looks));
      }),
      { numRuns: 500 },
    );
  });

  it('takes a refund from a later look that does not know the amount, and keeps the amount', () => {
    const bought = seenPurchase();
    const { currency: _currency, amountMicros: _amount, ...payment } = paid(bought.purchase);
    const refund = seenPurchase(
      { endedAt: start + day },
      { asOf: start + day, transactions: [{ ...payment, refundedAt: start + day }] },
    );
    for (const looks of [
      [bought, refund],
      [refund, bought],
    ]) {
      const [known] = mergeAll(looks)?.transactions ?? [];
      expect(known?.transaction).toMatchObject({ amountMicros: 4_990_000, refundedAt: start + day });
    }
  });

  it('keeps refund, date and amount that the store told while later looks only guess', () => {
    const refunded = seenPurchase(
      {},
      { asOf: start + day, transactions: [paid(seenPurchase().purchase, { refundedAt: start + day })] },
    );
    const guess = seenPurchase(
      {},
      {
        asOf: start + 2 * day,
        transactionsAsOf: guessedAsOf(start + 2 * day),
        transactions: [paid(seenPurchase().purchase, { amountMicros: 5_990_000, purchaseDate: start + 5000 })],
      },
    );
    for (const looks of [
      [refunded, guess],
      [guess, refunded],
    ]) {
      expect(mergeAll(looks)?.transactions).toMatchObject(
        [refunded.transactions[0]].map((transaction) => ({ transaction })),
      );
    }
  });

  it('keeps the first amount that a client reported: a receipt shown again moves no money of a past day', () => {
    const reports = [4_990_000, 999_000_000].map((amountMicros, index) => {
      const transactions = [paid(seenPurchase().purchase, { amountMicros, isReportedAmount: true })];
      return seenPurchase({}, { asOf: start + index * day, transactions });
    });
    for (const looks of [reports, reports.toReversed()]) {
      expect(mergeAll(looks)?.purchase.amountMicros).toBe(4_990_000);
    }
  });

  it('changes nothing when an observation is merged twice', () => {
    fc.assert(
      fc.property(lives, (actions) => {
        const known = mergeAll(observationsOf(actions));
        for (const look of observationsOf(actions)) expect(merge(known, look)).toEqual(known);
      }),
    );
  });

  it('never lets an older look overwrite a newer one', () => {
    const cancelled = seenPurchase({ renewalIntent: 'Lapse' }, { asOf: start + 2 * day });
    const late = seenPurchase({ renewalIntent: 'Renew' }, { asOf: start + day });
    expect(merge(merge(undefined, cancelled), late).purchase.renewalIntent).toBe('Lapse');
  });

  it('keeps every transaction that any look has shown', () => {
    const first = seenPurchase();
    const renewed = seenPurchase(
      { transactionId: 'store_a:2', lastRenewalDate: start + 31 * day },
      { asOf: start + 31 * day },
    );
    const ids = merge(merge(undefined, first), renewed).transactions.map(
      ({ transaction }) => transaction.transactionId,
    );
    expect(ids).toEqual(['store_a:1', 'store_a:2']);
  });

  it('keeps the end of a non-renewing subscription that only one look was told of', () => {
    const { expirationDate: _end, ...endless } = seenPurchase({ productType: 'non renewing subscription' }).purchase;
    const told = seenPurchase({ productType: 'non renewing subscription' });
    const later = { ...told, asOf: start + day, purchase: endless };
    for (const looks of [
      [told, later],
      [later, told],
    ]) {
      expect(mergeAll(looks)?.purchase.expirationDate).toBe(start + 31 * day);
    }
  });

  it('keeps the type of a product that only one look was told of, in either order', () => {
    const { productType: _type, ...untold } = seenPurchase().purchase;
    const told = seenPurchase({ productType: 'consumable' });
    const later = { ...told, asOf: start + day, purchase: untold };
    for (const looks of [
      [told, later],
      [later, told],
    ]) {
      expect(mergeAll(looks)?.purchase.productType).toBe('consumable');
    }
  });

  it('takes the refund of a past period from a look that knows nothing of the present one, in either order', () => {
    const first = seenPurchase();
    const renewed = seenPurchase({ transactionId: 'store_a:2' }, { asOf: start + 31 * day });
    const refund = seenPurchase(
      { endedAt: start + 33 * day },
      { transactionsAsOf: start + 33 * day, transactions: [paid(first.purchase, { refundedAt: start + 33 * day })] },
    );
    for (const looks of [
      [first, renewed, refund],
      [refund, renewed, first],
    ]) {
      const known = mergeAll(looks);
      expect(known?.purchase).toMatchObject({ transactionId: 'store_a:2' });
      expect(known?.purchase.endedAt).toBeUndefined();
      expect(known?.transactions[0]?.transaction.refundedAt).toBe(start + 33 * day);
    }
  });

  it("prefers the store's amount to the one that the client reported, in either order", () => {
    const { purchase } = seenPurchase();
    const reported = seenPurchase(
      {},
      { asOf: start + day, transactions: [paid(purchase, { amountMicros: 1, isReportedAmount: true })] },
    );
    const told = seenPurchase();
    for (const looks of [
      [reported, told],
      [told, reported],
    ]) {
      expect(mergeAll(looks)?.transactions[0]?.transaction.amountMicros).toBe(4_990_000);
      expect(mergeAll(looks)?.purchase.amountMicros).toBe(4_990_000);
    }
  });
});
