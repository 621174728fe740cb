import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, dayRange, describeObject, describeOperation } from '../api/describe.ts';
import { QueryDay } from '../api/paging.ts';
import { DateTime, emptyAsAbsent } from '../api/schemas.ts';
import { countedUntilText, statsCommon } from './contract.ts';

const sums = { given: v.number(), spent: v.number(), takenBack: v.number(), expired: v.number() };

const CreditDay = v.strictObject({ date: v.string(), ...sums, outstanding: v.number() });
export type CreditDay = v.InferOutput<typeof CreditDay>;

const CreditStat = v.strictObject({
  outstandingAtStart: v.number(),
  ...sums,
  outstanding: v.number(),
  days: v.array(CreditDay),
});
export type CreditStat = v.InferOutput<typeof CreditStat>;

const CreditStats = v.strictObject({ countedUntil: DateTime, credits: v.record(v.string(), CreditStat) });

export const getCreditStats = defineContract({
  ...statsCommon,
  id: 'get-credit-stats',
  summary: 'Get the credits given, spent and outstanding by day',
  path: '/v3/stats/credits',
  aliases: [],
  query: v.object({ startdate: emptyAsAbsent(QueryDay), enddate: emptyAsAbsent(QueryDay) }),
  response: CreditStats,
  isLongRunning: true,
  permissions: [],
});

const sumTexts = {
  given: ['Units that payments and gifts gave.', 500],
  spent: ['Units that were spent. A hold counts with its capture.', 320],
  takenBack: ['Units that refunds took back, or that were taken by hand. Negative if more returned.', 20],
  expired: ['Units that ended unspent, on the day of their end.', 10],
  outstanding: ['Units that customers have at the end.', 1150],
} as const;

const descriptions = [
  describeObject('CreditDay', CreditDay, 'A day (UTC) on which a credit has changed.', {
    date: ['The day, `YYYY-MM-DD`.', '2026-01-15'],
    ...sumTexts,
  }),
  describeObject('CreditStat', CreditStat, 'The sums of a credit over all customers.', {
    outstandingAtStart: ['Units that customers had before the range.', 1000],
    ...sumTexts,
    days: ['The days of the range on which the credit has changed, earliest first.'],
  }),
  describeObject('CreditStats', CreditStats, 'The credits of all customers.', {
    countedUntil: countedUntilText,
    credits: ['The credits by name. Without credits that no customer has and that have not changed.'],
  }),
];

const operations = [
  describeOperation(getCreditStats, {
    description:
      'Returns what customers were given, spent and lost of each credit, and what is outstanding: the deferred revenue in units. Without the sandbox. The default is the last 31 days.',
    query: dayRange,
  }),
];

export const creditStatsApi: ApiPart = { descriptions, operations };
