import { type Platform, platformTokens } from '../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import type { CommissionRates } from './app.ts';
import type { CommissionRate, SourcedCommissionRate } from './commission-rate-contract.ts';

const { appStore, googlePlay, microsoftStore, stripe, serviceStripe, braintree } = platformTokens;

const europeanUnion = 'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE'.split(' ');

/** The European Economic Area, the United Kingdom and the United States. */
const playRegionsOf2026 = [...europeanUnion, 'IS', 'LI', 'NO', 'GB', 'US'];

/** Day on which the default rates were last compared with the pages of the stores. */
export const ratesReviewedOn = '2026-11-27';

/** Stores have changed their rates several times a year. */
const maxReviewAgeDays = 100;

/** The default rates must be compared with the pages of the stores again. */
export const isReviewDue = (now: EpochMillis): boolean => now - Date.parse(ratesReviewedOn) > maxReviewAgeDays * dayMs;

interface DefaultRate extends CommissionRate {
  /** The store has announced other terms that are not confirmed. The rate is the one before. */
  readonly isUnconfirmed?: true;
}

/** Rates of the App Store in some countries: the second one applies after a year of paid service. */
const appStoreRates = (
  from: string,
  countries: string[],
  [first, later]: readonly [number, number],
): readonly DefaultRate[] => [
  { platform: appStore, from, countries, commissionPercent: first },
  { platform: appStore, from, countries, sale: 'subscription', minPaidDays: 365, commissionPercent: later },
];

/** Rates of Google Play in some countries: 10 or 20 % of the price, and 5 % for the billing of Google Play. */
const playRates = (from: string, countries: string[]): readonly DefaultRate[] => [
  { platform: googlePlay, from, sale: 'subscription', countries, commissionPercent: 15 },
  { platform: googlePlay, from, sale: 'one-time', countries, commissionPercent: 25 },
];

const markUnconfirmed = (rates: readonly DefaultRate[]): readonly DefaultRate[] =>
  rates.map((rate) => ({ ...rate, isUnconfirmed: true }));

/**
 * Standard rates of the stores, without tax. Reduced rates of programs, such as the App Store Small Business Program,
 * depend on the developer: the app's own rates state them. `docs/proceeds.md` names the sources of each row.
 * @see https://developer.apple.com/app-store/subscriptions/
 * @see Service fees of Google Play: page 112622 of support.google.com/googleplay/android-developer
 */
const defaultCommissionRates: readonly DefaultRate[] = [
  { platform: appStore, from: '2008-07-10', commissionPercent: 30 },
  { platform: appStore, from: '2016-09-01', sale: 'subscription', minPaidDays: 365, commissionPercent: 15 },
  // 21 or 10 % of the price, and 5 % for In-App Purchase.
  ...appStoreRates('2025-12-17', ['JP'], [26, 15]),
  ...appStoreRates('2026-03-15', ['CN'], [25, 12]),
  ...appStoreRates('2026-06-18', ['BR'], [26, 15]),
  ...markUnconfirmed(appStoreRates('2026-10-01', europeanUnion, [30, 15])),
  { platform: googlePlay, from: '2008-10-22', commissionPercent: 30 },
  { platform: googlePlay, from: '2022-01-01', sale: 'subscription', commissionPercent: 15 },
  ...playRates('2026-06-30', playRegionsOf2026),
  // Google has not published the fee for its billing in these countries.
  ...markUnconfirmed(playRates('2026-09-30', ['AU'])),
  ...markUnconfirmed(playRates('2026-12-31', ['JP', 'KR'])),
  // The App Developer Agreement before and since version 8.4, for apps that are not games and not on Xbox consoles.
  { platform: microsoftStore, from: '2012-10-26', commissionPercent: 30 },
  { platform: microsoftStore, from: '2019-03-06', commissionPercent: 15 },
  // Cards of the US, without the fixed fee of a payment. Braintree had 2.9 %, and has 2.89 % in 2026.
  ...[stripe, serviceStripe, braintree].map((platform) => ({ platform, from: '2010-01-01', commissionPercent: 2.9 })),
];

/** Lists the rates of an app, then the default rates, with their sources. */
export const listCommissionRates = (appRates: CommissionRates = []): SourcedCommissionRate[] => [
  ...appRates.map((rate) => ({ source: 'app' as const, ...rate })),
  ...defaultCommissionRates.map((rate) => ({ source: 'default' as const, ...rate })),
];

/** The facts of a payment that determine its rate. */
interface Sale {
  readonly platform: Platform;
  readonly date: EpochMillis;
  readonly isSubscription: boolean;
  readonly country: string;
  /** Paid service before the payment. */
  readonly paidMs: number;
  /** The tax of a rate is for payments without a known tax. */
  readonly hasTax?: boolean;
}

/**
 * Returns the parts of the price that the developer receives and that are the tax of the rate, in hundredths of a
 * percent. The app's rates take precedence. The most specific rate applies, then the latest one.
 */
export function findShares(appRates: CommissionRates, sale: Sale): { share: number; taxShare?: number } {
  const rate = selectRate(appRates, sale) ?? selectRate(defaultCommissionRates, sale);
  if (!rate) return { share: 10_000 };
  const { commissionPercent } = rate;
  const taxPercent = sale.hasTax ? 0 : (rate.taxPercent ?? 0);
  return {
    share: Math.max(0, Math.round(10_000 - (commissionPercent + taxPercent) * 100)),
    ...(taxPercent > 0 && { taxShare: Math.round(taxPercent * 100) }),
  };
}

const selectRate = (rates: CommissionRates, sale: Sale): CommissionRates[number] | undefined =>
  rates
    .filter((rate) => applies(rate, sale))
    .sort((a, b) => countConditions(b) - countConditions(a) || (a.from < b.from ? 1 : -1))[0];

const applies = (rate: CommissionRates[number], { platform, date, isSubscription, country, paidMs }: Sale): boolean =>
  rate.platform === platform &&
  Date.parse(`${rate.from}T00:00:00Z`) <= date &&
  (rate.sale === undefined || (rate.sale === 'subscription') === isSubscription) &&
  (rate.countries === undefined || rate.countries.includes(country)) &&
  (rate.minPaidDays === undefined || paidMs >= rate.minPaidDays * dayMs);

const countConditions = ({ sale, countries, minPaidDays }: CommissionRates[number]): number =>
  [sale, countries, minPaidDays].filter((condition) => condition !== undefined).length;
