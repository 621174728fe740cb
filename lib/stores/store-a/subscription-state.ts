import { defined } from '../../defined.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { CancelationReason, Millis, Purchase } from '../../purchases/purchase.ts';
import type { Line } from './lines.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';

type State = Pick<
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
const lateRenewalMs = 10 * 60_000;

/** Until when the latest transaction of a line gives access, why no longer, and what comes next. */
export function subscriptionState(line: Line): State {
  return { ...outlook(line), ...(taken(line) ?? inForce(line)) };
}

function outlook({ latest, status }: Line): State {
  if (!status) return {};
  return defined({
    renewalProductId: otherPlan(latest, status),
    renewalIntent: status.status === expired ? ('Lapse' as const) : status.renewalIntent,
    priceConsentStatus: status.priceConsentStatus,
    isBillingRetryPeriod: status.status === billingRetry || status.status === gracePeriod,
  });
}

/** The plan that comes next, where it is not the present one; what has ended has none. */
function otherPlan({ productId }: StoreTransaction, { status, renewalProductId }: SubscriptionStatus) {
  if (renewalProductId === undefined || renewalProductId === productId) return undefined;
  return status === expired || status === revoked ? undefined : prefixed('store_a', renewalProductId);
}

/** A refund, a revocation or a replacement; of an active subscription none of them can concern the present period. */
function taken({ latest, status, asOf }: Line): State | undefined {
  if (status && (status.status === active || status.status === gracePeriod)) return undefined;
  const { revokedAt, revocation = 'Unknown', replacedAt } = latest;
  if (revokedAt !== undefined) return endedAt(revokedAt, revocation, latest.expiresDate);
  if (status?.status === revoked) return endedAt(asOf, revocation, latest.expiresDate);
  return replacedAt === undefined ? undefined : endedAt(replacedAt, 'System.Replaced', latest.expiresDate);
}

const endedAt = (at: Millis, cancelationReason: CancelationReason, expiresDate: Millis | undefined): State =>
  defined({ endedAt: at, cancelationReason, expirationDate: expiresDate && Math.min(at, expiresDate) });

function inForce({ latest: { expiresDate }, status, asOf }: Line): State {
  switch (status?.status) {
    case active:
      return defined({ expirationDate: expiresDate && (expiresDate > asOf ? expiresDate : asOf + lateRenewalMs) });
    case gracePeriod:
      return defined({ expirationDate: status.graceEndsAt ?? expiresDate });
    case billingRetry:
      return { cancelationReason: 'System.BillingError', expirationDate: Math.min(expiresDate ?? asOf, asOf) };
    case expired:
      return {
        cancelationReason: status.expirationReason ?? 'Unknown',
        expirationDate: Math.min(expiresDate ?? asOf, asOf),
      };
    default:
      return defined({ expirationDate: expiresDate });
  }
}
