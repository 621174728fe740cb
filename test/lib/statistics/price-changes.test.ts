import { describe, expect, it } from '@jest/globals';
import type { Platform } from '../../../lib/foundation/platform.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { countPrice } from '../../../lib/statistics/count-price.ts';
import type { CounterPeriod } from '../../../lib/statistics/counter-table.ts';
import { findPriceStarts, toPriceChange } from '../../../lib/statistics/price-changes.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

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

describe('countPrice', () => {
  const expirationDate = startDate + 31 * dayMs;
  it.each<[string, Platform, Partial<Transaction>, object]>([
    ['a month without the reported tax', 'store_b', { expirationDate }, { 'USD@1M@10000000': 1 }],
    ['a month at a processor', 'processor_a', { expirationDate }, { 'USD@1M@10000000': 1 }],
    ['a unit of several', 'store_b', { quantity: 2 }, { 'USD@@5000000': 1 }],
    ['no single payment at a processor', 'processor_b', {}, {}],
    ['no trial', 'store_b', { expirationDate, isTrialPeriod: true }, {}],
  ])('counts %s', (_case, platform, fields, counts) => {
    const { expirationDate: _end, ...purchase } = createObservation({ platform }).purchase;
    const amounts = { purchaseDate: startDate, currency: 'USD', amountMicros: 10_830_000, taxMicros: 830_000 };
    const transaction = createTransaction(purchase, { ...amounts, ...fields });
    expect(countPrice(transaction, { share: 8_500, isByCell: true })).toEqual(counts);
  });
});
