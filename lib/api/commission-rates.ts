import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { defineContract } from './contract.ts';
import { QueryDay } from './paging.ts';

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
  /** Set for a default rate if the store has announced other terms that are not confirmed. */
  isUnconfirmed: v.exactOptional(v.literal(true)),
});
export type SourcedCommissionRate = v.InferOutput<typeof SourcedCommissionRate>;

// Spec: not shown. The rates with which proceeds are computed if the store does not report them.
export const getCommissionRates = defineContract({
  id: 'get-commission-rates',
  area: 'app',
  summary: 'Get the rates of commission and tax for proceeds, rates of the app first',
  method: 'GET',
  path: '/v3/commission-rates',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.read',
  response: v.strictObject({ rates: v.array(SourcedCommissionRate) }),
  permissions: [],
});
