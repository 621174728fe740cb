import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isCartTotal } from '../../../../lib/stores/braintree/cart.ts';
import type { CatalogueProduct } from '../../../../lib/stores/braintree/settings.ts';

const toProduct = (cents: number, changes: Partial<CatalogueProduct> = {}): CatalogueProduct => ({
  type: 'consumable',
  amount: (cents / 100).toFixed(2),
  currency: 'USD',
  ...changes,
});
const arbitraryPrices = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 5 });
const microsPerCent = 10_000;

describe('isCartTotal', () => {
  it('accepts the total of every cart', () => {
    fc.assert(
      fc.property(arbitraryPrices, fc.array(fc.nat(), { maxLength: 6 }), (prices, choices) => {
        const catalogue = prices.map((cents) => toProduct(cents));
        const chosen = choices.map((choice) => prices[choice % prices.length] ?? 0);
        const total = chosen.reduce((sum, cents) => sum + cents, prices[0] ?? 0) * microsPerCent;
        expect(isCartTotal(total, catalogue[0] as CatalogueProduct, catalogue)).toBe(true);
      }),
    );
  });

  it('accepts only totals that are the price of the first item and multiples of the second', () => {
    const amount = fc.integer({ min: 1, max: 500 });
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: 0, max: 2_000 }), (first, second, total) => {
        const catalogue = [toProduct(first), toProduct(second, { type: 'non consumable' })];
        let isTotal = false;
        for (let rest = total - first; rest >= 0; rest -= second) isTotal ||= rest % first === 0;
        expect(isCartTotal(total * microsPerCent, catalogue[0] as CatalogueProduct, catalogue)).toBe(isTotal);
      }),
    );
  });

  it.each<[string, CatalogueProduct]>([
    ['in another currency', toProduct(1, { currency: 'EUR' })],
    ['of another merchant account', toProduct(1, { merchantAccountId: 'other' })],
    ['that is a subscription', toProduct(1, { type: 'paid subscription', planId: 'plan' })],
    ['with an amount of the buyer', toProduct(1, { amount: 'any', minimum: '0.01', maximum: '9.00' })],
  ])('does not count a product %s', (_case, other) => {
    const product = toProduct(499);
    expect(isCartTotal(5_000_000, product, [product, other])).toBe(false);
  });

  it('rejects totals above its limit', () => {
    const product = toProduct(100);
    expect([2_000, 3_000].map((units) => isCartTotal(units * 1_000_000, product, [product]))).toEqual([true, false]);
  });
});
