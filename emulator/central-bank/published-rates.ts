import { dayMs, hourMs } from '../calendar.ts';

/**
 * Time of publication in UTC. The bank publishes around 16:00 CET on working days.
 * @see https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html
 */
const publishedAtMs = 15 * hourMs;

/** Average rates per euro, in ten-thousandths. */
const averages: Readonly<Record<string, number>> = {
  USD: 10_800,
  JPY: 1_610_000,
  CZK: 250_000,
  DKK: 74_580,
  GBP: 8_500,
  HUF: 4_000_000,
  PLN: 43_000,
  SEK: 113_000,
  CHF: 9_500,
  NOK: 117_000,
  AUD: 16_500,
  BRL: 60_000,
  CAD: 14_900,
  CNY: 78_000,
  INR: 910_000,
  KRW: 14_900_000,
  MXN: 205_000,
  ZAR: 198_000,
};
const holidays = ['01-01', '05-01', '12-25', '12-26'];

/** Lists the days with rates among the last `count` days, newest first. Weekends and fixed holidays lack rates. */
export function listPublishedDays(now: number, count: number): string[] {
  const days = Array.from({ length: count }, (_, ago) => new Date(now - publishedAtMs - ago * dayMs));
  return days
    .filter((day) => ![0, 6].includes(day.getUTCDay()))
    .map((day) => day.toISOString().slice(0, 10))
    .filter((day) => !holidays.includes(day.slice(5)));
}

/** Returns the rates of a day. Deterministic, and within 2 % of the average. */
export const getRates = (day: string): [currency: string, rate: string][] =>
  Object.entries(averages).map(([currency, average]) => {
    const seed = [...day, ...currency].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
    const rate = Math.round((average * (980 + (seed % 41))) / 1000);
    return [currency, (rate / 10_000).toFixed(4)];
  });
