import { describe, expect, it } from '@jest/globals';
import type { CounterPeriod } from '../../../lib/statistics/counter-table.ts';
import { findPriceStarts, toPriceChange } from '../../../lib/statistics/price-changes.ts';

const product = { platform: 'store_a', productId: 'store_a:premium' } as const;

const toCounter = (period: string, country: string, counts: Readonly<Record<string, number>>): CounterPeriod => ({
  period,
  country,
  counts,
  version: 1,
});

/** Finds the changes with the days of the month in which a price begins. */
const findChanges = (months: readonly CounterPeriod[], days: readonly CounterPeriod[]) =>
  findPriceStarts(months).flatMap((start) => toPriceChange(product, start, { months, days }) ?? []);

describe('findPriceStarts', () => {
  it('finds the day, the price before it and the countries of a new price', () => {
    const months = [
      toCounter('2026-01', 'DE', { 'EUR@1M@9990000': 40, paid: 40 }),
      toCounter('2026-01', 'FR', { 'EUR@1M@9990000': 20, 'EUR@1M@8990000': 1 }),
      toCounter('2026-02', 'DE', { 'EUR@1M@9990000': 36, 'EUR@1M@11990000': 4 }),
      toCounter('2026-02', 'FR', { 'EUR@1M@9990000': 18 }),
      toCounter('2026-03', 'FR', { 'EUR@1M@11990000': 3 }),
    ];
    const days = [
      toCounter('2026-02-03', 'DE', { 'EUR@1M@9990000': 2 }),
      toCounter('2026-02-10', 'DE', { 'EUR@1M@11990000': 1, 'EUR@1M@9990000': 1 }),
      toCounter('2026-02-11', 'DE', { 'EUR@1M@11990000': 3 }),
    ];
    expect(findChanges(months, days)).toEqual([
      {
        ...product,
        date: '2026-02-10',
        currency: 'EUR',
        fromMicros: 9_990_000,
        toMicros: 11_990_000,
        countries: ['DE', 'FR'],
      },
    ]);
  });

  it.each<[string, CounterPeriod[]]>([
    [
      'the first price of a country',
      [toCounter('2026-01', 'DE', { 'EUR@1M@9990000': 40 }), toCounter('2026-02', 'PT', { 'EUR@1M@7990000': 40 })],
    ],
    [
      'a price of another period',
      [toCounter('2026-01', 'DE', { 'EUR@1M@9990000': 40 }), toCounter('2026-02', 'DE', { 'EUR@12M@79990000': 40 })],
    ],
    [
      'a price that two payments have',
      [toCounter('2026-01', 'DE', { 'EUR@1M@9990000': 4 }), toCounter('2026-02', 'DE', { 'EUR@1M@11990000': 2 })],
    ],
    [
      'a price with less than a tenth of the payments',
      [
        toCounter('2026-01', 'DE', { 'EUR@1M@9990000': 90 }),
        toCounter('2026-02', 'DE', { 'EUR@1M@9990000': 90, 'EUR@1M@8000000': 9 }),
      ],
    ],
  ])('ignores %s', (_case, months) => {
    expect(findPriceStarts(months)).toEqual([]);
  });
});
