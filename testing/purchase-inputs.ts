import { dayMs } from '../lib/foundation/time.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import type { RecordPurchaseInput } from '../lib/purchases/prepare-update.ts';
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

/** A manual link, one day after `startDate` by default. */
export const buildLinkInput = (username: string, now = startDate + dayMs): RecordPurchaseInput => ({
  trigger: 'link',
  claim: { username, source: 'manual' },
  strategy: 'all',
  now,
});
