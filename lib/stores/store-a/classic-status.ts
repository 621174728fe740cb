import * as v from 'valibot';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { expirationReasons } from './signed-transaction.ts';
import { findLatestTransaction, type StoreTransaction, type SubscriptionStatus } from './store-transaction.ts';

const Flag = v.exactOptional(v.union([v.string(), v.number()]));

/** The outlook of a subscription in the words of verifyReceipt. */
export const PendingRenewal = v.looseObject({
  original_transaction_id: v.string(),
  auto_renew_status: Flag,
  expiration_intent: Flag,
  is_in_billing_retry_period: Flag,
  grace_period_expires_date_ms: Flag,
  price_consent_status: Flag,
});
export type PendingRenewal = v.InferOutput<typeof PendingRenewal>;

interface VerifyReceiptState {
  /** When Apple answered. */
  readonly asOf: EpochMillis;
  readonly pending: readonly PendingRenewal[];
}

/** The statuses that the App Store Server API would give, from the dates and the outlooks of an answer. */
export function deriveStatuses(
  transactions: readonly StoreTransaction[],
  told: VerifyReceiptState,
): SubscriptionStatus[] {
  return told.pending.flatMap((pending) => {
    const [first, ...others] = transactions.filter(
      ({ originalTransactionId }) => originalTransactionId === pending.original_transaction_id,
    );
    if (!first) return [];
    const transaction = findLatestTransaction([first, ...others]);
    return [{ transaction, status: deriveStatus(transaction, pending, told.asOf), ...toRenewalState(pending) }];
  });
}

function deriveStatus(
  { revokedAt, expiresDate }: StoreTransaction,
  pending: PendingRenewal,
  asOf: EpochMillis,
): number {
  if (revokedAt !== undefined) return 5;
  if (expiresDate === undefined || expiresDate > asOf) return 1;
  if (Number(pending.grace_period_expires_date_ms ?? 0) > asOf) return 4;
  return String(pending.is_in_billing_retry_period) === '1' ? 3 : 2;
}

function toRenewalState(pending: PendingRenewal): Omit<SubscriptionStatus, 'status' | 'transaction'> {
  const { auto_renew_status: renews, expiration_intent: intent, price_consent_status: consent } = pending;
  const graceEndsAt = pending.grace_period_expires_date_ms;
  return omitUndefined({
    renewalIntent: renews === undefined ? undefined : String(renews) === '1' ? 'Renew' : 'Lapse',
    graceEndsAt: graceEndsAt === undefined ? undefined : Number(graceEndsAt),
    expirationReason: intent === undefined ? undefined : (expirationReasons[intent] ?? 'Unknown'),
    priceConsentStatus: consent === undefined ? undefined : String(consent) === '1' ? 'Agreed' : 'Notified',
  } as const);
}
