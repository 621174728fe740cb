import type { Service } from '../lib/foundation/service.ts';
import { dayMs } from '../lib/foundation/time.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import type { RecordPurchaseInput } from '../lib/purchases/prepare-update.ts';
import { type RecordPurchaseResult, recordPurchase } from '../lib/purchases/record-purchase.ts';
import { createObservation, startDate } from './given.ts';

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

/**
 * Records an observation, by default as a validation at `startDate`, by a customer if a username is passed. Further
 * members replace those of the input.
 */
export const recordObservation = async (
  service: Service,
  appName: string,
  { username, observation = createObservation(), ...input }: Partial<RecordPurchaseInput> & { username?: string },
): Promise<RecordPurchaseResult | undefined> =>
  await recordPurchase(service, appName, observation.purchase.purchaseId, {
    ...buildValidationInput(username, observation),
    ...input,
  });

/** A manual link, one day after `startDate` by default. */
export const buildLinkInput = (username: string, now = startDate + dayMs): RecordPurchaseInput => ({
  trigger: 'link',
  claim: { username, source: 'manual' },
  strategy: 'all',
  now,
});
