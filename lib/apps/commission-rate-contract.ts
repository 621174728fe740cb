import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { QueryDay } from '../api/paging.ts';
import { OptionalTrue, PlatformToken } from '../api/schemas.ts';
import { Platform } from '../foundation/platform.ts';

const Percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

/** Part of a price that a store, and the tax that it collects, keep from a day on. */
export const CommissionRate = v.strictObject({
  platform: Platform,
  /** First day of the rate (UTC). */
  from: QueryDay,
  /** Kind of sale. Absent: both. */
  sale: v.exactOptional(v.picklist(['subscription', 'one-time'])),
  /** ISO 3166-1 codes of two letters. Absent: all countries. */
  countries: v.exactOptional(v.array(v.pipe(v.string(), v.regex(/^[A-Z]{2}$/, 'a country code such as DE')))),
  /** Days of paid service that a subscription needs for the rate. Absent: none. */
  minPaidDays: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  /** Commission of the store, in percent of the price. */
  commissionPercent: Percent,
  /** Tax in the price, in percent of the price, for payments whose tax the store does not report. Absent: none. */
  taxPercent: v.exactOptional(Percent),
});
export type CommissionRate = v.InferOutput<typeof CommissionRate>;

/** A rate with its source: set by the app, or a default of the service. */
export const SourcedCommissionRate = v.strictObject({
  source: v.picklist(['app', 'default']),
  ...CommissionRate.entries,
  platform: PlatformToken,
  /** Set for a default rate if the store has announced other terms that are not confirmed. */
  isUnconfirmed: OptionalTrue,
});
export type SourcedCommissionRate = v.InferOutput<typeof SourcedCommissionRate>;

const CommissionRates = v.strictObject({ rates: v.array(SourcedCommissionRate) });

// Spec: not shown. The rates with which proceeds are computed if the store does not report them.
export const getCommissionRates = defineContract({
  id: 'get-commission-rates',
  area: 'app',
  summary: 'Get the rates of commission and tax for proceeds',
  method: 'GET',
  path: '/v3/commission-rates',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.read',
  response: CommissionRates,
  permissions: [],
});

const commissionRateFields = {
  platform: ['The store.', 'store_a'],
  from: ['First day of the rate (UTC).', '2026-01-01'],
  sale: ['Kind of sale. Both if absent.', 'subscription'],
  countries: ['Countries of the store account (ISO 3166-1, two letters). All if absent.', ['DE', 'FR']],
  minPaidDays: ['Days of paid service that a subscription needs for the rate. None if absent.', 365],
  commissionPercent: ['Commission of the store, in percent of the price.', 15, 'decimal'],
  taxPercent: ['Tax in the price that the store remits, in percent of the price. None if absent.', 19, 'decimal'],
} as const;

const descriptions = [
  describeObject('CommissionRate', SourcedCommissionRate, 'A rate of commission and tax, from a day on.', {
    source: ['Whether the app has set the rate, or it is a default of the service.', 'app'],
    ...commissionRateFields,
    isUnconfirmed: [
      'Set if the store has announced other terms that are not confirmed. The rate is the one before.',
      true,
    ],
  }),
  describeObject('CommissionRates', CommissionRates, 'The rates of commission and tax for proceeds.', {
    rates: ['The rates of the app, then the default rates.'],
  }),
];

const operations = [
  describeOperation(getCommissionRates, {
    description:
      'Returns the rates with which the proceeds of a payment are computed if the store does not report them. A rate of the app takes precedence over the default rates. If several rates apply, the one with the most conditions takes precedence, then the latest one.',
  }),
];

export const commissionRateApi: ApiPart = { descriptions, operations };
