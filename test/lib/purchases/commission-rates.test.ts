import { describe, expect, it } from '@jest/globals';
import type { CommissionRates } from '../../../lib/apps/app.ts';
import { findShares, isReviewDue, listCommissionRates, ratesReviewedOn } from '../../../lib/apps/commission-rates.ts';
import { dayMs } from '../../../lib/foundation/time.ts';

const sale = {
  platform: 'store_a',
  date: Date.parse('2026-07-15T00:00:00Z'),
  isSubscription: true,
  country: 'FR',
  paidMs: 0,
} as const;

const appRates: CommissionRates = [
  { platform: 'store_a', from: '2026-01-01', commissionPercent: 15 },
  { platform: 'store_a', from: '2026-01-01', countries: ['DE'], commissionPercent: 12.6, taxPercent: 15.97 },
  { platform: 'processor_a', from: '2026-01-01', commissionPercent: 1.5 },
];

describe('findShares', () => {
  it.each([
    ['App Store, first year', {}, 7_000],
    ['App Store, after a year of paid service', { paidMs: 365 * dayMs }, 8_500],
    ['Google Play, subscription', { platform: 'store_b' }, 8_500],
    [
      'Google Play, one-time purchase in Europe since 2026-06-30',
      { platform: 'store_b', isSubscription: false },
      7_500,
    ],
    ['Google Play, one-time purchase elsewhere', { platform: 'store_b', isSubscription: false, country: 'JP' }, 7_000],
    ['App Store in China since 2026-03-15', { country: 'CN' }, 7_500],
    ['App Store in China before it', { country: 'CN', date: Date.parse('2026-03-14T23:59:59Z') }, 7_000],
    ['App Store in China after a year of paid service', { country: 'CN', paidMs: 365 * dayMs }, 8_800],
    ['App Store, one-time purchase in Japan', { country: 'JP', isSubscription: false }, 7_400],
    ['App Store in Brazil after a year of paid service', { country: 'BR', paidMs: 400 * dayMs }, 8_500],
    ['App Store in the EU since 2026-10-01', { date: Date.parse('2026-10-02T00:00:00Z') }, 7_000],
    [
      'Google Play, one-time purchase in Australia since 2026-09-30',
      { platform: 'store_b', isSubscription: false, country: 'AU', date: Date.parse('2026-09-30T00:00:00Z') },
      7_500,
    ],
    [
      'Google Play, one-time purchase in Korea before 2026-12-31',
      { platform: 'store_b', isSubscription: false, country: 'KR', date: Date.parse('2026-12-30T00:00:00Z') },
      7_000,
    ],
    ['Microsoft Store', { platform: 'store_c' }, 8_500],
    ['Stripe', { platform: 'processor_a' }, 9_710],
  ] as const)('returns the default share of %s', (_case, changes, expected) => {
    expect(findShares([], { ...sale, ...changes })).toEqual({ share: expected });
  });

  it('prefers the rates of the app from their first day on, and the one with more conditions', () => {
    expect(findShares(appRates, sale)).toEqual({ share: 8_500 });
    expect(findShares(appRates, { ...sale, country: 'DE' })).toEqual({ share: 7_143, taxShare: 1_597 });
    expect(findShares(appRates, { ...sale, date: Date.parse('2025-12-31T00:00:00Z') })).toEqual({ share: 7_000 });
    expect(findShares(appRates, { ...sale, platform: 'processor_a' })).toEqual({ share: 9_850 });
  });

  it('leaves out the tax of a rate if the store reports the tax of the payment', () => {
    expect(findShares(appRates, { ...sale, country: 'DE', hasTax: true })).toEqual({ share: 8_740 });
  });

  it.each([
    [100, false],
    [101, true],
  ])('requests a review after %i days: %s', (days, isDue) => {
    expect(isReviewDue(Date.parse(ratesReviewedOn) + days * dayMs)).toBe(isDue);
  });

  it('marks the rates that the stores have not confirmed', () => {
    const unconfirmed = listCommissionRates().filter(({ isUnconfirmed }) => isUnconfirmed);
    expect(unconfirmed.map(({ platform, from }) => `${platform} ${from}`)).toEqual([
      ...Array.from({ length: 2 }, () => 'store_a 2026-10-01'),
      ...Array.from({ length: 2 }, () => 'store_b 2026-09-30'),
      ...Array.from({ length: 2 }, () => 'store_b 2026-12-31'),
    ]);
  });
});
