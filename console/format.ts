import { formatDistance } from '../lib/problems/format-distance.ts';

const browser = globalThis as {
  readonly document?: object;
  readonly navigator?: { readonly languages: readonly string[] };
};

/** Selects the languages that `Intl` accepts: Chrome under the locale `C` has `en-US@posix`. */
export const selectLocales = (languages: readonly string[]): string[] =>
  languages.filter((language) => {
    try {
      return Intl.getCanonicalLocales(language).length > 0;
    } catch {
      return false;
    }
  });

/** Languages of the viewer, for numbers, amounts and dates. English outside a browser, for example in a unit test. */
const locales = browser.document && browser.navigator ? selectLocales(browser.navigator.languages) : ['en-US'];

/** Formats an amount in micros of a currency; with the code if the currency is not in ISO 4217. */
export function formatMoney(amountMicros: number, currency: string): string {
  const amount = amountMicros / 1_000_000;
  try {
    return new Intl.NumberFormat(locales, { style: 'currency', currency }).format(amount);
  } catch {
    return `${formatNumber(amount)} ${currency}`;
  }
}

/** Formats an amount of US dollars, such as `amountUSD` of a record, or a sum, whose last digits are not exact. */
export const formatUsd = (amount: number): string =>
  new Intl.NumberFormat(locales, { style: 'currency', currency: 'USD' }).format(Math.round(amount * 1e9) / 1e9 || 0);

/** Formats an amount of US dollars without cents, and a large one in thousands or millions: `$12.5K`. */
export const formatShortUsd = (amount: number): string =>
  new Intl.NumberFormat(locales, {
    style: 'currency',
    currency: 'USD',
    ...(Math.abs(amount) < 10_000 ? { maximumFractionDigits: 0 } : { notation: 'compact' }),
  }).format(amount);

export const formatNumber = (value: number): string => new Intl.NumberFormat(locales).format(value);

export const formatPercent = (share: number): string =>
  new Intl.NumberFormat(locales, { style: 'percent', maximumFractionDigits: 1 }).format(share);

/** Formats a change with its sign, such as `+12.5%`. The previous value is not 0; it can be negative, after refunds. */
export const formatChange = (current: number, previous: number): string =>
  new Intl.NumberFormat(locales, { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' }).format(
    (current - previous) / Math.abs(previous),
  );

/** Formats a date-time in the viewer's time zone. */
export const formatDateTime = (date: Date): string =>
  new Intl.DateTimeFormat(locales, { dateStyle: 'medium', timeStyle: 'medium' }).format(date);

/** Formats a date-time without the year of `now` in the viewer's time zone: `3 Mar, 12:34` or `3 Mar, 12:34:56`. */
export const formatMinute = (date: Date, now: number, hasSeconds = false): string =>
  new Intl.DateTimeFormat(locales, {
    ...(date.getFullYear() !== new Date(now).getFullYear() && { year: 'numeric' }),
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    ...(hasSeconds && { second: '2-digit' }),
  }).format(date);

/** Formats the day of a date-time in the viewer's time zone, such as `3 March 2026`, or `3 Mar 2026` if medium. */
export const formatDate = (date: Date, dateStyle: 'long' | 'medium' = 'long'): string =>
  new Intl.DateTimeFormat(locales, { dateStyle }).format(date);

/** Returns the first day of a month, `2026-03`, or of a quarter, `2026-Q1`. A day stays as it is. */
export const toFirstDay = (day: string): string =>
  day.length > 7
    ? day
    : `${day.replace(/Q(\d)$/, (_, quarter: string) => String(Number(quarter) * 3 - 2).padStart(2, '0'))}-01`;

/** Formats a day of the statistics, `2026-03-01`, a month, `2026-03`, or a quarter, `2026-Q1`. All are in UTC. */
export function formatDay(day: string): string {
  if (day.includes('Q')) return day.split('-').reverse().join(' ');
  const options: Intl.DateTimeFormatOptions =
    day.length === 7 ? { year: 'numeric', month: 'long' } : { dateStyle: 'medium' };
  return new Intl.DateTimeFormat(locales, { ...options, timeZone: 'UTC' }).format(new Date(toFirstDay(day)));
}

/** Formats a day, month or quarter of an axis, in UTC. The first month and each January have the year. */
export const formatShortDay = (day: string, isFirst: boolean): string =>
  day.includes('Q')
    ? formatDay(day)
    : new Intl.DateTimeFormat(locales, {
        month: 'short',
        ...(day.length > 7 ? { day: 'numeric' } : (isFirst || day.endsWith('-01')) && { year: 'numeric' }),
        timeZone: 'UTC',
      }).format(new Date(toFirstDay(day)));

/** Formats a date-time in UTC, such as `2026-03-01 12:34:56 UTC`. */
export const formatUtc = (date: Date): string => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Formats a duration in milliseconds, such as `340 ms`, `2.1 s`, `5 min` or `1.5 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${formatNumber(Math.round(ms))} ms`;
  const [length, unit] = ms < 60_000 ? [1_000, 's'] : ms < 3_600_000 ? [60_000, 'min'] : [3_600_000, 'h'];
  return `${formatNumber(Math.round((ms * 10) / length) / 10)} ${unit}`;
}

/** Formats the distance of a date from now, such as `3 days ago`. */
export const formatRelative = (date: Date, now: number): string => formatDistance(date.getTime() - now, locales);

/** Names of the stores by platform token, neutral or brand. */
const platformNames: Readonly<Record<string, string>> = {
  store_a: 'App Store',
  apple: 'App Store',
  store_b: 'Google Play',
  google: 'Google Play',
  store_c: 'Microsoft Store',
  windows: 'Microsoft Store',
  processor_a: 'Stripe',
  stripe: 'Stripe',
  service_processor_a: 'Stripe (service)',
  iaptic: 'Stripe (service)',
  processor_b: 'Braintree',
  braintree: 'Braintree',
};

export const formatPlatform = (platform: string): string => platformNames[platform] ?? platform;

/** Returns whether a platform token, neutral or brand, names the store. */
export const isStore = (platform: string, store: 'store_a' | 'store_b'): boolean =>
  platformNames[platform] === platformNames[store];

/** Name of a country in English, from its ISO 3166-1 code. */
export const formatCountry = (code: string): string =>
  code === 'ZZ' ? 'Unknown country' : (new Intl.DisplayNames(['en'], { type: 'region' }).of(code) ?? code);

/** Removes the platform from an id such as `store_a:premium`. */
export const formatProductId = (productId: string): string => {
  const [platform = '', ...rest] = productId.split(':');
  return platform in platformNames && rest.length > 0 ? rest.join(':') : productId;
};
