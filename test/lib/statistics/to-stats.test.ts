import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays, getSameDayPreviousMonth, listDays } from '../../../lib/shared/calendar.ts';
import { parseStatsRange } from '../../../lib/statistics/stats-range.ts';
import { addTally, type Tally } from '../../../lib/statistics/tally.ts';
import { buildDailyStats, buildMonthlyStats, getFirstRequiredDay, sumUsd } from '../../../lib/statistics/to-stats.ts';

const earned = (usdMicros: number, code = 'USD'): Tally => ({
  [`${code}.micros`]: usdMicros,
  [`${code}.usd`]: usdMicros,
  [`${code}.transactions`]: 1,
  [`${code}.paid`]: 1,
  transactions: 1,
  paid: 1,
});
const dayOf2026 = fc.nat(364).map((days) => addDays('2026-01-01', days));
const cents = fc.integer({ min: -500, max: 5_000 }).map((amount) => amount * 10_000);
const anyDays = fc
  .dictionary(dayOf2026, fc.tuple(fc.constantFrom('USD', 'EUR'), cents), { maxKeys: 60 })
  .map((days) => new Map(Object.entries(days).map(([date, [code, amount]]) => [date, earned(amount, code)] as const)));

/** Days that differ in all that a month sums up, at the ends of months and of leap years, too. */
const anyLongRange = fc
  .record({
    first: fc.integer({ min: -1_500, max: 1_500 }).map((days) => addDays('2024-02-28', days)),
    tallies: fc.array(
      fc.dictionary(
        fc.constantFrom('USD.usd', 'EUR.usd', 'USD.paid', 'EUR.transactions', 'paid', 'transactions', 'T.3'),
        fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
      ),
      { minLength: 1, maxLength: 150 },
    ),
  })
  .map(({ first, tallies }) => ({
    range: [first, addDays(first, tallies.length)] as const,
    days: new Map(tallies.map((tally, index): [string, Tally] => [addDays(first, index - 31), tally])),
  }));

const monthly = (days: ReadonlyMap<string, Tally>, date: string) => buildDailyStats(days, [date, date], {})[0];

describe('the revenue of a month that ends with a day', () => {
  it.each([
    ['2026-03-31', '2026-02-28', '2026-03-01'],
    ['2026-03-15', '2026-02-15', '2026-02-16'],
    ['2026-01-10', '2025-12-10', '2025-12-11'],
    ['2024-03-30', '2024-02-29', '2024-03-01'],
  ])('%s has nothing of %s, and all from %s on', (date, outside, inside) => {
    expect(monthly(new Map([[outside, earned(1_000_000)]]), date)).toMatchObject({ monthlyRevenueUSD: 0 });
    for (const paid of [inside, date]) {
      expect(monthly(new Map([[paid, earned(1_990_000)]]), date)).toMatchObject({
        monthlyRevenueUSD: 1.99,
        monthlyTransactions: 1,
        monthlyPaidTransactions: 1,
      });
    }
    expect(monthly(new Map([[addDays(date, 1), earned(1)]]), date)).toMatchObject({ monthlyTransactions: 0 });
  });

  it('is the sum of the days after the same day of the month before', () => {
    fc.assert(
      fc.property(anyDays, dayOf2026, (days, date) => {
        const window = listDays(getSameDayPreviousMonth(date), date).slice(1);
        const sum = window.reduce((all, each) => all + Math.round(sumUsd(days.get(each) ?? {}, {}) * 100), 0);
        expect(Math.round((monthly(days, date)?.monthlyRevenueUSD ?? 0) * 100)).toBe(sum + 0);
      }),
    );
  });

  it('is of each day of a long range what its days are when each is added to the others', () => {
    fc.assert(
      fc.property(anyLongRange, fc.constantFrom(undefined, 'USD', 'EUR'), ({ range, days }, currency) => {
        for (const record of buildDailyStats(days, range, { currency })) {
          const window = listDays(getSameDayPreviousMonth(record.date), record.date).slice(1);
          const whole = window.reduce<Tally>((sum, each) => addTally(sum, days.get(each) ?? {}), {});
          expect(record).toMatchObject({
            monthlyRevenueUSD: sumUsd(whole, { currency }),
            monthlyTransactions: whole[currency ? `${currency}.transactions` : 'transactions'] ?? 0,
            monthlyPaidTransactions: whole[currency ? `${currency}.paid` : 'paid'] ?? 0,
          });
        }
      }),
    );
  });

  it('is worked out for three years of 45 currencies in a second of a processor', () => {
    const codes = Intl.supportedValuesOf('currency').slice(0, 45);
    const hours = Object.fromEntries(
      Array.from({ length: 72 }, (_, hour) => [`${'PTC'[hour % 3]}.${Math.floor(hour / 3)}`, 10]),
    );
    const tally = codes.reduce((sum, code) => addTally(sum, earned(1_000_000, code)), hours);
    const range = ['2023-01-01', '2025-12-31'] as const;
    const days = new Map(listDays(getFirstRequiredDay(range[0]), range[1]).map((date) => [date, tally]));
    const before = process.cpuUsage();
    expect(buildDailyStats(days, range, {}).at(-1)).toMatchObject({
      monthlyRevenueUSD: 45 * 31,
      monthlyTransactions: 1_395,
    });
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it('needs no day before the first that is asked for from the table', () => {
    fc.assert(
      fc.property(anyDays, dayOf2026, fc.nat(40), (days, first, count) => {
        const range = [first, addDays(first, count)] as const;
        const read = new Map([...days].filter(([date]) => date >= getFirstRequiredDay(first)));
        expect(buildDailyStats(read, range, {})).toEqual(buildDailyStats(days, range, {}));
      }),
    );
  });
});

describe('records', () => {
  it('of all days are together that of the whole', () => {
    fc.assert(
      fc.property(anyDays, fc.constantFrom(undefined, 'USD', 'EUR', 'JPY'), (days, currency) => {
        const daily = buildDailyStats(days, ['2026-01-01', '2026-12-31'], { currency });
        const whole = new Map([['2026-01', [...days.values()].reduce<Tally>((sum, day) => addTally(sum, day), {})]]);
        const [month] = buildMonthlyStats(whole, ['2026-01', '2026-01'], { currency });
        const sum = daily.reduce((all, { amountUSD }) => all + Math.round(amountUSD * 100), 0);
        expect(sum + 0).toBe(Math.round((month?.amountUSD ?? 0) * 100) + 0);
        for (const name of ['numTransactions', 'numPaidTransactions', 'numRequests'] as const) {
          expect(daily.reduce((all, record) => all + record[name], 0)).toBe(month?.[name]);
        }
      }),
    );
  });

  it('have only money and transactions of the currency that is asked for', () => {
    const both = addTally(earned(1_000_000), earned(2_500_000, 'EUR'));
    const records = new Map([['2026-01', { ...both, requests: 7 }]]);
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

  it('count micros without a rate in their own currency, and dollars whose micros are even', () => {
    const noRate = { 'XAU.micros': 9_000_000, 'XAU.transactions': 1, transactions: 1 };
    // What was bought at one rate and given back at another comes to no euros, but to some dollars.
    const gain = { 'EUR.usd': -1_000_000 };
    const [record] = buildMonthlyStats(new Map([['2026-01', { ...noRate, ...gain }]]), ['2026-01', '2026-01'], {});
    expect(record).toMatchObject({ amountUSD: -1, amountMicros: { XAU: 9_000_000 }, numTransactions: 1 });
  });

  it('list notifications, also those that did not happen, only where they are asked for', () => {
    const days = new Map([['2026-01-01', { 'N.RENEWED': 3 }]]);
    const [plain] = buildDailyStats(days, ['2026-01-01', '2026-01-01'], {});
    const [detailed] = buildDailyStats(days, ['2026-01-01', '2026-01-01'], { includeNotifications: true });
    expect(plain).not.toHaveProperty('notifications');
    expect(detailed?.notifications).toMatchObject({ RENEWED: 3, EXPIRED: 0, REFUNDED: 0, PURCHASED: 0 });
  });
});

describe('the range of statistics', () => {
  const now = Date.parse('2026-03-31T23:59:59Z');

  it('without dates is the last 31 days and 12 months', () => {
    expect(parseStatsRange({}, now)).toEqual({ days: ['2026-03-01', '2026-03-31'], months: ['2025-04', '2026-03'] });
  });

  it('with dates is the days between them and the months that they touch', () => {
    const asked = { startdate: '2025-12-31', enddate: '2026-02-01' };
    expect(parseStatsRange(asked, now)).toEqual({ days: ['2025-12-31', '2026-02-01'], months: ['2025-12', '2026-02'] });
  });

  it('is none when it ends before it begins, and refused when it is longer than ten years', () => {
    expect(parseStatsRange({ startdate: '2026-02-02', enddate: '2026-02-01' }, now)).toBeUndefined();
    const asked = { startdate: '2016-01-01', enddate: '2026-02-01' };
    expect(() => parseStatsRange(asked, now)).toThrow(expect.objectContaining({ code: 'InvalidPayload' }));
  });
});
