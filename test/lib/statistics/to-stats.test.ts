import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays, getSameDayPreviousMonth, listDays } from '../../../lib/foundation/calendar.ts';
import { addCounts, type Counts } from '../../../lib/statistics/counts.ts';
import { parseStatsRange } from '../../../lib/statistics/stats-range.ts';
import { buildDailyStats, buildMonthlyStats, getFirstRequiredDay, sumUsd } from '../../../lib/statistics/to-stats.ts';

/** Builds the counts of one paid transaction. The amount has the same value in its currency and in US dollars. */
const buildPaidCounts = (usdMicros: number, code = 'USD'): Counts => ({
  [`${code}.micros`]: usdMicros,
  [`${code}.usd`]: usdMicros,
  [`${code}.transactions`]: 1,
  [`${code}.paid`]: 1,
  transactions: 1,
  paid: 1,
});
const arbitraryDay = fc.nat(364).map((days) => addDays('2026-01-01', days));
const arbitraryCents = fc.integer({ min: -500, max: 5_000 }).map((amount) => amount * 10_000);
const arbitraryDays = fc
  .dictionary(arbitraryDay, fc.tuple(fc.constantFrom('USD', 'EUR'), arbitraryCents), { maxKeys: 60 })
  .map(
    (days) =>
      new Map(Object.entries(days).map(([date, [code, amount]]) => [date, buildPaidCounts(amount, code)] as const)),
  );

/** Counts with random sums for up to 150 days, across ends of months and leap years. */
const arbitraryLongRange = fc
  .record({
    first: fc.integer({ min: -1_500, max: 1_500 }).map((days) => addDays('2024-02-28', days)),
    countsByDay: fc.array(
      fc.dictionary(
        fc.constantFrom('USD.usd', 'EUR.usd', 'USD.paid', 'EUR.transactions', 'paid', 'transactions', 'T.3'),
        fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
      ),
      { minLength: 1, maxLength: 150 },
    ),
  })
  .map(({ first, countsByDay }) => ({
    range: [first, addDays(first, countsByDay.length)] as const,
    days: new Map(countsByDay.map((counts, index): [string, Counts] => [addDays(first, index - 31), counts])),
  }));

const buildStatsOfDay = (days: ReadonlyMap<string, Counts>, date: string) => buildDailyStats(days, [date, date], {})[0];

describe('buildDailyStats', () => {
  it.each([
    ['2026-03-31', '2026-02-28', '2026-03-01'],
    ['2026-03-15', '2026-02-15', '2026-02-16'],
    ['2026-01-10', '2025-12-10', '2025-12-11'],
    ['2024-03-30', '2024-02-29', '2024-03-01'],
  ])('computes the rolling month of %s without %s and with all days from %s on', (date, outside, inside) => {
    expect(buildStatsOfDay(new Map([[outside, buildPaidCounts(1_000_000)]]), date)).toMatchObject({
      monthlyRevenueUSD: 0,
    });
    for (const paymentDate of [inside, date]) {
      expect(buildStatsOfDay(new Map([[paymentDate, buildPaidCounts(1_990_000)]]), date)).toMatchObject({
        monthlyRevenueUSD: 1.99,
        monthlyTransactions: 1,
        monthlyPaidTransactions: 1,
      });
    }
    expect(buildStatsOfDay(new Map([[addDays(date, 1), buildPaidCounts(1)]]), date)).toMatchObject({
      monthlyTransactions: 0,
    });
  });

  it('adds up the days after the same day of the previous month', () => {
    fc.assert(
      fc.property(arbitraryDays, arbitraryDay, (days, date) => {
        const window = listDays(getSameDayPreviousMonth(date), date).slice(1);
        const sum = window.reduce((total, day) => total + Math.round(sumUsd(days.get(day) ?? {}, {}) * 100), 0);
        expect(Math.round((buildStatsOfDay(days, date)?.monthlyRevenueUSD ?? 0) * 100)).toBe(sum + 0);
      }),
    );
  });

  it('returns the same sums for a day of a long range as the addition of its countsByDay', () => {
    fc.assert(
      fc.property(arbitraryLongRange, fc.constantFrom(undefined, 'USD', 'EUR'), ({ range, days }, currency) => {
        for (const record of buildDailyStats(days, range, { currency })) {
          const window = listDays(getSameDayPreviousMonth(record.date), record.date).slice(1);
          const total = window.reduce<Counts>((sum, day) => addCounts(sum, days.get(day) ?? {}), {});
          expect(record).toMatchObject({
            monthlyRevenueUSD: sumUsd(total, { currency }),
            monthlyTransactions: total[currency ? `${currency}.transactions` : 'transactions'] ?? 0,
            monthlyPaidTransactions: total[currency ? `${currency}.paid` : 'paid'] ?? 0,
          });
        }
      }),
    );
  });

  it('reads each period at most four times for three years of 45 currencies', () => {
    const codes = Intl.supportedValuesOf('currency').slice(0, 45);
    const hours = Object.fromEntries(
      Array.from({ length: 72 }, (_, hour) => [`${'PTC'[hour % 3]}.${Math.floor(hour / 3)}`, 10]),
    );
    let reads = 0;
    const counts = new Proxy(
      codes.reduce((sum, code) => addCounts(sum, buildPaidCounts(1_000_000, code)), hours),
      {
        ownKeys(target) {
          reads++;
          return Reflect.ownKeys(target);
        },
      },
    );
    const range = ['2023-01-01', '2025-12-31'] as const;
    const dates = listDays(getFirstRequiredDay(range[0]), range[1]);
    const stats = buildDailyStats(new Map(dates.map((date) => [date, counts])), range, {});
    expect(stats.at(-1)).toMatchObject({ monthlyRevenueUSD: 45 * 31, monthlyTransactions: 1_395 });
    // Adding up the counts of each rolling month would read a day 31 times.
    expect(reads).toBeLessThanOrEqual(4 * dates.length);
  });

  it('does not use countsByDay before the first required day', () => {
    fc.assert(
      fc.property(arbitraryDays, arbitraryDay, fc.nat(40), (days, first, count) => {
        const range = [first, addDays(first, count)] as const;
        const requiredDays = new Map([...days].filter(([date]) => date >= getFirstRequiredDay(first)));
        expect(buildDailyStats(requiredDays, range, {})).toEqual(buildDailyStats(days, range, {}));
      }),
    );
  });
});

describe('buildMonthlyStats', () => {
  it('returns the sums of the daily records', () => {
    fc.assert(
      fc.property(arbitraryDays, fc.constantFrom(undefined, 'USD', 'EUR', 'JPY'), (days, currency) => {
        const daily = buildDailyStats(days, ['2026-01-01', '2026-12-31'], { currency });
        const year = new Map([['2026-01', [...days.values()].reduce<Counts>((sum, day) => addCounts(sum, day), {})]]);
        const [month] = buildMonthlyStats(year, ['2026-01', '2026-01'], { currency });
        const sum = daily.reduce((total, { amountUSD }) => total + Math.round(amountUSD * 100), 0);
        expect(sum + 0).toBe(Math.round((month?.amountUSD ?? 0) * 100) + 0);
        for (const name of ['numTransactions', 'numPaidTransactions', 'numRequests'] as const) {
          expect(daily.reduce((total, record) => total + record[name], 0)).toBe(month?.[name]);
        }
      }),
    );
  });

  it('restricts amounts and transactions to the requested currency', () => {
    const counts = addCounts(buildPaidCounts(1_000_000), buildPaidCounts(2_500_000, 'EUR'));
    const records = new Map([['2026-01', { ...counts, requests: 7 }]]);
    expect(buildMonthlyStats(records, ['2026-01', '2026-01'], { currency: 'EUR' })).toEqual([
      {
        date: '2026-01',
        amountUSD: 2.5,
        amountMicros: { EUR: 2_500_000 },
        numRequests: 7,
        numTransactions: 1,
        numPaidTransactions: 1,
      },
    ]);
  });

  it('lists amounts without an exchange rate, and the US dollars of amounts that add up to zero', () => {
    const noRate = { 'XAU.micros': 9_000_000, 'XAU.transactions': 1, transactions: 1 };
    // A refund at another rate than the payment leaves a difference in US dollars.
    const rateDifference = { 'EUR.usd': -1_000_000 };
    const [record] = buildMonthlyStats(
      new Map([['2026-01', { ...noRate, ...rateDifference }]]),
      ['2026-01', '2026-01'],
      {},
    );
    expect(record).toMatchObject({ amountUSD: -1, amountMicros: { XAU: 9_000_000 }, numTransactions: 1 });
  });

  it('lists all notification reasons if requested', () => {
    const days = new Map([['2026-01-01', { 'N.RENEWED': 3 }]]);
    const [withoutNotifications] = buildDailyStats(days, ['2026-01-01', '2026-01-01'], {});
    const [withNotifications] = buildDailyStats(days, ['2026-01-01', '2026-01-01'], { includeNotifications: true });
    expect(withoutNotifications).not.toHaveProperty('notifications');
    expect(withNotifications?.notifications).toMatchObject({ RENEWED: 3, EXPIRED: 0, REFUNDED: 0, PURCHASED: 0 });
  });
});

describe('parseStatsRange', () => {
  const now = Date.parse('2026-03-31T23:59:59Z');

  it('returns the last 31 days and 12 months without dates', () => {
    expect(parseStatsRange({}, now)).toEqual({ days: ['2026-03-01', '2026-03-31'], months: ['2025-04', '2026-03'] });
  });

  it('returns the days between the dates and the months that contain them', () => {
    const query = { startdate: '2025-12-31', enddate: '2026-02-01' };
    expect(parseStatsRange(query, now)).toEqual({ days: ['2025-12-31', '2026-02-01'], months: ['2025-12', '2026-02'] });
  });

  it('returns undefined for a range that ends before it starts, and rejects more than ten years', () => {
    expect(parseStatsRange({ startdate: '2026-02-02', enddate: '2026-02-01' }, now)).toBeUndefined();
    const query = { startdate: '2016-01-01', enddate: '2026-02-01' };
    expect(() => parseStatsRange(query, now)).toThrow(expect.objectContaining({ code: 'InvalidPayload' }));
  });
});
