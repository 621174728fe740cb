import { describe, expect, it } from '@jest/globals';
import { addQuantities, computeBill, computeDollars, prices, scaleQuantities, sumBill } from '../../bench/prices.ts';

describe('computeDollars', () => {
  it('multiplies the quantity with the price of a single tier', () => {
    expect(computeDollars(prices.tableWrites, 4_000_000)).toBeCloseTo(2.5, 10);
  });

  it('applies each tier to its part of the quantity', () => {
    // 333 million at 3.50, 667 million at 2.80, and 1 billion at 2.38.
    expect(computeDollars(prices.apiRequests, 2_000_000_000)).toBeCloseTo(1165.5 + 1867.6 + 2380, 6);
  });

  it('charges the end of a tier at the price of that tier', () => {
    expect(computeDollars(prices.apiRequests, 333_000_000)).toBeCloseTo(1165.5, 6);
  });

  it('charges nothing for nothing', () => {
    for (const price of Object.values(prices)) expect(computeDollars(price, 0)).toBe(0);
  });
});

describe('prices', () => {
  it('become cheaper with each tier, and the last tier is unlimited', () => {
    for (const { tiers } of Object.values(prices)) {
      const limits = tiers.map(({ upTo }) => upTo);
      expect(limits).toEqual(limits.toSorted((a, b) => a - b));
      expect(limits.at(-1)).toBe(Number.POSITIVE_INFINITY);
      const dollars = tiers.map(({ usd }) => usd);
      expect(dollars).toEqual(dollars.toSorted((a, b) => b - a));
    }
  });
});

describe('computeBill', () => {
  it('adds and scales quantities, and sums their dollars', () => {
    const once = addQuantities({ tableWrites: 2, lambdaRequests: 1 }, { tableWrites: 6 });
    expect(once).toEqual({ tableWrites: 8, lambdaRequests: 1 });
    const bill = computeBill(scaleQuantities(once, 1_000_000));
    expect(bill.tableWrites).toBeCloseTo(5, 10);
    expect(sumBill(bill)).toBeCloseTo(5.2, 10);
  });
});
