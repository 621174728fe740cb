import { dayRatesOf } from '../../lib/db/day-rates.ts';
import { type Happened, type Purchases, purchasesOf } from '../../lib/db/purchases.ts';
import type { Table } from '../../lib/db/table.ts';
import { cachedRates } from '../../lib/exchange-rates/cached-rates.ts';
import type { Observation } from '../../lib/purchases/observation.ts';
import { seenPurchase, start, testCipher } from './given.ts';

/** Purchases of a table, which are priced as of `start`. */
export const recordingOver = (table: Table): Purchases =>
  purchasesOf(
    table,
    testCipher,
    cachedRates(dayRatesOf(table), () => start),
  );

/** A validation at `start`, by a user if one is named. */
export const seen = (username?: string, observed: Observation = seenPurchase()): Happened => ({
  cause: 'validation',
  observed,
  ...(username && { claim: { username, how: 'validation' } }),
  strategy: 'all',
  now: start,
});
