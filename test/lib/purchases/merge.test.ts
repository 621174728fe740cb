import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Known, merge, type Seen } from '../../../lib/purchases/merge.ts';
import { day, paid, seenPurchase, start } from '../../support/given.ts';
import { lifeActions, observationsOf } from '../../support/life.ts';

const mergeAll = (looks: readonly Seen[]): Known | undefined =>
  looks.reduce<Known | undefined>((known, look) => merge(known, look), undefined);

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
