import type { CancelationReason } from '../../api/enumerations.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';

type SubscriptionFields = Pick<
  Purchase,
  | 'expirationDate'
  | 'endedAt'
  | 'cancelationReason'
  | 'isBillingRetryPeriod'
  | 'renewalIntent'
  | 'renewalProductId'
  | 'priceConsentStatus'
>;

const [active, expired, billingRetry, gracePeriod, revoked] = [1, 2, 3, 4, 5];

/** Apple may take a few minutes to renew a subscription that it calls active; it is asked again after them. */
const renewalGraceMs = 10 * 60_000;

/** Until when the latest transaction of a line gives access, why no longer, and what comes next. */
export function toSubscriptionState(line: TransactionGroup): SubscriptionFields {
  return { ...toRenewalFields(line), ...(toEndedFields(line) ?? toActiveFields(line)) };
}

function toRenewalFields({ latest, status }: TransactionGroup): SubscriptionFields {
  if (!status) return {};
  return omitUndefined({
    renewalProductId: toRenewalProductId(latest, status),
    renewalIntent: status.status === expired ? ('Lapse' as const) : status.renewalIntent,
    priceConsentStatus: status.priceConsentStatus,
    isBillingRetryPeriod: status.status === billingRetry || status.status === gracePeriod,
  });
}

/** The plan that comes next, where it is not the present one; what has ended has none. */
function toRenewalProductId({ productId }: StoreTransaction, { status, renewalProductId }: SubscriptionStatus) {
  if (renewalProductId === undefined || renewalProductId === productId) return undefined;
  return status === expired || status === revoked ? undefined : withPlatform('store_a', renewalProductId);
}

/** A refund, a revocation or a replacement; of an active subscription none of them can concern the present period. */
function toEndedFields({ latest, status, asOf }: TransactionGroup): SubscriptionFields | undefined {
  if (status && (status.status === active || status.status === gracePeriod)) return undefined;
  const { revokedAt, revocation = 'Unknown', replacedAt } = latest;
  if (revokedAt !== undefined) return buildEndedFields(revokedAt, revocation, latest.expiresDate);
  if (status?.status === revoked) return buildEndedFields(asOf, revocation, latest.expiresDate);
  return replacedAt === undefined ? undefined : buildEndedFields(replacedAt, 'System.Replaced', latest.expiresDate);
}

const buildEndedFields = (
  at: EpochMillis,
  cancelationReason: CancelationReason,
  expiresDate: EpochMillis | undefined,
): SubscriptionFields =>
  omitUndefined({ endedAt: at, cancelationReason, expirationDate: expiresDate && Math.min(at, expiresDate) });

function toActiveFields({ latest: { expiresDate }, status, asOf }: TransactionGroup): SubscriptionFields {
  switch (status?.status) {
    case active:
      return omitUndefined({
        expirationDate: expiresDate && (expiresDate > asOf ? expiresDate : asOf + renewalGraceMs),
      });
    case gracePeriod:
      return omitUndefined({ expirationDate: status.graceEndsAt ?? expiresDate });
    case billingRetry:
      return { cancelationReason: 'System.BillingError', expirationDate: Math.min(expiresDate ?? asOf, asOf) };
    case expired:
      return {
        cancelationReason: status.expirationReason ?? 'Unknown',
        expirationDate: Math.min(expiresDate ?? asOf, asOf),
      };
    default:
      return omitUndefined({ expirationDate: expiresDate });
  }
}
