import type { CancelationReason } from '../../api/schemas.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { lateRenewalMs } from '../late-renewal.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import { type StoreTransaction, type SubscriptionStatus, subscriptionStatuses } from './store-transaction.ts';

type SubscriptionFields = Pick<
  Purchase,
  | 'expirationDate'
  | 'endedAt'
  | 'cancelationReason'
  | 'isBillingRetryPeriod'
  | 'renewalIntent'
  | 'isCommitted'
  | 'renewalProductId'
  | 'priceConsentStatus'
>;

const { active, expired, billingRetry, gracePeriod, revoked } = subscriptionStatuses;

/**
 * The shortest grace period that a developer can choose. Apple can report a grace period without its end.
 * @see https://developer.apple.com/help/app-store-connect/manage-subscriptions/enable-billing-grace-period-for-auto-renewable-subscriptions
 * @see https://developer.apple.com/forums/thread/792548
 */
const minGraceMs = 3 * dayMs;

/** Derives expiration, cancelation and renewal of a purchase from its latest transaction and its status. */
export function toSubscriptionState(group: TransactionGroup): SubscriptionFields {
  return { ...toRenewalFields(group), ...(toEndedFields(group) ?? toActiveFields(group)) };
}

function toRenewalFields({ latest, status }: TransactionGroup): SubscriptionFields {
  if (!status) return {};
  return omitUndefined({
    renewalProductId: toRenewalProductId(latest, status),
    renewalIntent: status.status === expired ? ('Lapse' as const) : status.renewalIntent,
    isCommitted: status.isCommitted && status.status !== expired && status.status !== revoked ? true : undefined,
    priceConsentStatus: status.priceConsentStatus,
    isBillingRetryPeriod: status.status === billingRetry || status.status === gracePeriod,
  });
}

/**
 * Returns the product of the next period if it differs from the current one. Ended subscriptions lack a next period.
 */
function toRenewalProductId({ productId }: StoreTransaction, { status, renewalProductId }: SubscriptionStatus) {
  if (renewalProductId === undefined || renewalProductId === productId) return undefined;
  return status === expired || status === revoked ? undefined : withPlatform(platformTokens.appStore, renewalProductId);
}

/** Handles refund, revocation and replacement. In an active subscription, these concern a past period. */
function toEndedFields({ latest, status, asOf }: TransactionGroup): SubscriptionFields | undefined {
  if (status && (status.status === active || status.status === gracePeriod)) return undefined;
  const { expiresDate, revokedAt, revocationReason = 'Unknown', replacedAt } = latest;
  // Only the status says whether the other transactions of the period are valid.
  if (latest.sharesPeriod && status === undefined) return undefined;
  if (revokedAt !== undefined) return buildEndedFields(revokedAt, revocationReason, expiresDate);
  if (status?.status === revoked) return buildEndedFields(asOf, revocationReason, expiresDate);
  return replacedAt === undefined ? undefined : buildEndedFields(replacedAt, 'System.Replaced', expiresDate);
}

const buildEndedFields = (
  endedAt: EpochMillis,
  cancelationReason: CancelationReason,
  expiresDate: EpochMillis | undefined,
): SubscriptionFields =>
  omitUndefined({ endedAt, cancelationReason, expirationDate: expiresDate && Math.min(endedAt, expiresDate) });

function toActiveFields({ latest: { expiresDate }, status, asOf }: TransactionGroup): SubscriptionFields {
  switch (status?.status) {
    case active:
      return omitUndefined({
        expirationDate: expiresDate && (expiresDate > asOf ? expiresDate : asOf + lateRenewalMs),
      });
    case gracePeriod: {
      const { graceEndsAt = Math.max((expiresDate ?? asOf) + minGraceMs, asOf + lateRenewalMs) } = status;
      return { expirationDate: graceEndsAt };
    }
    // Apple can try to renew before the end of the paid period.
    case billingRetry:
      return { cancelationReason: 'System.BillingError', expirationDate: expiresDate ?? asOf };
    case expired:
      return {
        cancelationReason: status.expirationReason ?? 'Unknown',
        expirationDate: Math.min(expiresDate ?? asOf, asOf),
      };
    default:
      return omitUndefined({ expirationDate: expiresDate });
  }
}
