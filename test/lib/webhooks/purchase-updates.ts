import { dayMs, type EpochMillis } from '../../../lib/foundation/time.ts';
import type { RecordPurchaseInput } from '../../../lib/purchases/prepare-update.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

export const purchaseId = 'store_a:1';

/** A notification of a new subscription, claimed by a validation. */
export const buildPurchase = (username: string, fields: Partial<RecordPurchaseInput> = {}): RecordPurchaseInput => ({
  trigger: 'notification',
  observation: createObservation(),
  claim: { username, source: 'validation' },
  strategy: 'all',
  now: startDate,
  ...fields,
});

/** A notification of the renewal. */
export function buildRenewal(now: EpochMillis): RecordPurchaseInput {
  const { purchase } = createObservation({ transactionId: 'store_a:2', expirationDate: startDate + 62 * dayMs });
  const observation = { asOf: now, purchase, transactions: [createTransaction(purchase)], userAliases: [] };
  return { trigger: 'notification', observation, strategy: 'all', now };
}
