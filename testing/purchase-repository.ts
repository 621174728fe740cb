import { createExchangeRateRepository } from '../lib/db/exchange-rate-repository.ts';
import {
  createPurchaseRepository,
  type PurchaseRepository,
  type RecordPurchaseInput,
} from '../lib/db/purchase-repository.ts';
import type { Table } from '../lib/db/table.ts';
import { createRateCache } from '../lib/money/exchange-rates/rate-cache.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import { createObservation, startDate, testCipher } from './given.ts';

/** Purchases of a table, which are priced as of `start`. */
export const createTestRepository = (table: Table): PurchaseRepository =>
  createPurchaseRepository(
    table,
    testCipher,
    createRateCache(createExchangeRateRepository(table), () => startDate),
  );

/** A validation at `start`, by a user if one is named. */
export const buildValidationInput = (
  username?: string,
  observation: Observation = createObservation(),
): RecordPurchaseInput => ({
  trigger: 'validation',
  observed: observation,
  ...(username && { claim: { username, how: 'validation' } }),
  strategy: 'all',
  now: startDate,
});
