import { createExchangeRateRepository } from '../lib/db/exchange-rate-repository.ts';
import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import { createPayerRepository } from '../lib/db/payer-repository.ts';
import { createPurchaseRepository } from '../lib/db/purchase-repository.ts';
import type { Table } from '../lib/foundation/table.ts';
import { createRateCache } from '../lib/money/exchange-rates/rate-cache.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import type { OwnedPurchaseRepository } from '../lib/purchases/owned-purchase-repository.ts';
import type { PurchaseRepository } from '../lib/purchases/purchase-repository.ts';
import {
  createRecordPurchase,
  type RecordingRules,
  type RecordPurchase,
  type RecordPurchaseInput,
} from '../lib/purchases/record-purchase.ts';
import { dayMs } from '../lib/shared/time.ts';
import { createObservation, startDate, testCipher } from './given.ts';

/** The purchases of one table, with the use case that records them and the purchases of a customer. */
export interface TestPurchases
  extends PurchaseRepository,
    Pick<OwnedPurchaseRepository, 'listRepresentativePurchases'> {
  readonly recordPurchase: RecordPurchase;
}

/** Creates the purchases of a table, with the settings of their app. Uses the exchange rates of `startDate`. */
export function createTestPurchases(table: Table, rules?: RecordingRules): TestPurchases {
  const purchases = createPurchaseRepository(table, testCipher);
  const rates = createRateCache(createExchangeRateRepository(table), () => startDate);
  const { listRepresentativePurchases } = createOwnedPurchaseRepository(table);
  const recordPurchase = createRecordPurchase(
    purchases,
    rates,
    async () => rules,
    async () => [],
    createPayerRepository(table),
  );
  return { ...purchases, listRepresentativePurchases, recordPurchase };
}

/** A validation at `startDate`, by a customer if a username is passed. */
export const buildValidationInput = (
  username?: string,
  observation: Observation = createObservation(),
): RecordPurchaseInput => ({
  trigger: 'validation',
  observation,
  ...(username && { claim: { username, source: 'validation' } }),
  strategy: 'all',
  now: startDate,
});

/** A manual link, one day after `startDate` by default. */
export const buildLinkInput = (username: string, now = startDate + dayMs): RecordPurchaseInput => ({
  trigger: 'link',
  claim: { username, source: 'manual' },
  strategy: 'all',
  now,
});
