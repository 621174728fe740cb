import * as v from 'valibot';
import { CommissionRate, type SourcedCommissionRate } from '../api/commission-rates.ts';
import { type Platform, platformTokens } from '../shared/platform.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';

/** Every request reads the item of the app, so the rates in it are small. */
const maxRates = 60;
const maxBytes = 4_000;

/** Rates of an app. They take precedence over the default rates. */
export const CommissionRates = v.pipe(
  v.array(CommissionRate),
  v.maxLength(maxRates, `at most ${maxRates} rates`),
  v.check((rates) => JSON.stringify(rates).length <= maxBytes, `rates of at most ${maxBytes} characters`),
  v.readonly(),
);
export type CommissionRates = v.InferOutput<typeof CommissionRates>;

const { appStore, googlePlay, microsoftStore, stripe, serviceStripe, braintree } = platformTokens;

/** The European Economic Area, the United Kingdom and the United States. */
const playRegionsOf2026 = (
  'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE IS LI NO ' + 'GB US'
).split(' ');

/**
 * Standard rates of the stores, without tax. Reduced rates of programs, such as the App Store Small Business Program,
 * depend on the developer: the app's own rates state them. Rates of past days must not change, because stored amounts
 * depend on them.
 * @see https://developer.apple.com/app-store/subscriptions/
 * @see Service fees of Google Play: page 112622 of support.google.com/googleplay/android-developer
 */
const defaultCommissionRates: CommissionRates = [
  { platform: appStore, from: '2008-07-10', commissionPercent: 30 },
  { platform: appStore, from: '2016-09-01', sale: 'subscription', minPaidDays: 365, commissionPercent: 15 },
  { platform: googlePlay, from: '2008-10-22', commissionPercent: 30 },
  { platform: googlePlay, from: '2022-01-01', sale: 'subscription', commissionPercent: 15 },
  // 10 % of the price, and 5 % for the billing of Google Play.
  {
    platform: googlePlay,
    from: '2026-06-30',
    sale: 'subscription',
    countries: playRegionsOf2026,
    commissionPercent: 15,
  },
  // 20 % of the price, and 5 % for the billing of Google Play.
  { platform: googlePlay, from: '2026-06-30', sale: 'one-time', countries: playRegionsOf2026, commissionPercent: 25 },
  // The App Developer Agreement before and since version 8.4, for apps that are not games and not on Xbox consoles.
  // https://blogs.windows.com/windowsdeveloper/2019/03/06/updated-microsoft-store-app-developer-agreement-new-revenue-share/
  // https://gist.github.com/riverar/f745a17d879af6ecb712781d936b723b
  { platform: microsoftStore, from: '2012-10-26', commissionPercent: 30 },
  { platform: microsoftStore, from: '2019-03-06', commissionPercent: 15 },
  // Cards of the US, without the fixed fee of a payment. Braintree had 2.9 %, and has 2.89 % in 2026.
  // https://stripe.com/pricing
  // https://www.paypal.com/us/webapps/mpp/bigcommerce/get-started/pricing-fees
  // https://www.paypal.com/us/enterprise/paypal-braintree-fees
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
}

/**
 * Returns the part of the price that the developer receives, in hundredths of a percent. The app's rates take
 * precedence. The most specific rate applies, then the latest one.
 */
export function findDeveloperShare(appRates: CommissionRates, sale: Sale): number {
  const rate = selectRate(appRates, sale) ?? selectRate(defaultCommissionRates, sale);
  if (!rate) return 10_000;
  const { commissionPercent, taxPercent = 0 } = rate;
  return Math.max(0, Math.round(10_000 - (commissionPercent + taxPercent) * 100));
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
