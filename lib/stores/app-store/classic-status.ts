import * as v from 'valibot';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import { expirationReasons } from './signed-transaction.ts';
import {
  findLatestTransaction,
  type StoreTransaction,
  type SubscriptionStatus,
  subscriptionStatuses,
} from './store-transaction.ts';

const Flag = v.exactOptional(v.union([v.string(), v.number()]));

/** An element of `pending_renewal_info` in a response of verifyReceipt. */
export const PendingRenewal = v.looseObject({
  original_transaction_id: v.string(),
  auto_renew_product_id: v.exactOptional(v.string()),
  auto_renew_status: Flag,
  expiration_intent: Flag,
  is_in_billing_retry_period: Flag,
  grace_period_expires_date_ms: Flag,
  price_consent_status: Flag,
});
export type PendingRenewal = v.InferOutput<typeof PendingRenewal>;

interface VerifyReceiptState {
  /** Date of the response. */
  readonly asOf: EpochMillis;
  readonly pending: readonly PendingRenewal[];
}

/**
 * Derives the subscription statuses of the App Store Server API from a response of verifyReceipt, which does not
 * contain them.
 */
export function deriveStatuses(
  transactions: readonly StoreTransaction[],
  { asOf, pending: pendingRenewals }: VerifyReceiptState,
): SubscriptionStatus[] {
  return pendingRenewals.flatMap((pending) => {
    const [first, ...rest] = transactions.filter(
      ({ originalTransactionId }) => originalTransactionId === pending.original_transaction_id,
    );
    if (!first) return [];
    const transaction = findLatestTransaction([first, ...rest]);
    const status = deriveStatus(
      transaction,
      {
        graceEndsAt: Number(pending.grace_period_expires_date_ms ?? 0),
        isBillingRetry: String(pending.is_in_billing_retry_period) === '1',
        isRenewing: String(pending.auto_renew_status) === '1' && pending.expiration_intent === undefined,
      },
      asOf,
    );
    return [{ transaction, status, ...toRenewalState(pending) }];
  });
}

/** A renewal can be processed late, but not a day. */
const maxRenewalDelayMs = dayMs;

interface RenewalFacts {
  readonly graceEndsAt?: EpochMillis;
  readonly isBillingRetry: boolean;
  /** Apple has not processed the renewal yet: every expired subscription has an expiration intent. */
  readonly isRenewing?: boolean;
}

/**
 * Derives the status of a subscription at a date from its latest transaction and its renewal.
 * @see https://developer.apple.com/documentation/appstorereceipts/expiration_intent
 */
export function deriveStatus(
  { revokedAt, expiresDate }: StoreTransaction,
  { graceEndsAt = 0, isBillingRetry, isRenewing = false }: RenewalFacts,
  asOf: EpochMillis,
): number {
  const { active, expired, billingRetry, gracePeriod, revoked } = subscriptionStatuses;
  if (revokedAt !== undefined) return revoked;
  if (expiresDate === undefined || expiresDate > asOf) return active;
  if (graceEndsAt > asOf) return gracePeriod;
  if (isBillingRetry) return billingRetry;
  return isRenewing && asOf - expiresDate < maxRenewalDelayMs ? active : expired;
}

function toRenewalState(pending: PendingRenewal): Omit<SubscriptionStatus, 'status' | 'transaction'> {
  const {
    auto_renew_status: renewStatus,
    expiration_intent: intent,
    grace_period_expires_date_ms: graceEndsAt,
    price_consent_status: consent,
  } = pending;
  return omitUndefined({
    renewalProductId: pending.auto_renew_product_id,
    renewalIntent: renewStatus === undefined ? undefined : String(renewStatus) === '1' ? 'Renew' : 'Lapse',
    graceEndsAt: graceEndsAt === undefined ? undefined : Number(graceEndsAt),
    expirationReason: intent === undefined ? undefined : (expirationReasons[intent] ?? 'Unknown'),
    priceConsentStatus: consent === undefined ? undefined : String(consent) === '1' ? 'Agreed' : 'Notified',
  } as const);
}
