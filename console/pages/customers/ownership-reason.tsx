import type { TimelineRecord } from '../../../lib/purchases/timeline-contract.ts';
import { useApi } from '../../api/use-api.ts';
import { describeOwnership } from '../purchase/describe-ownership.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';

interface OwnershipReasonProps {
  readonly user: string;
  readonly purchaseId: string;
  /** Version of the claims on the purchase. */
  readonly revision: string | undefined;
}

/**
 * Returns a revision that changes with `details` and with the customer's claims, or with those on one purchase.
 * Undefined while the claims are loading.
 */
export type GetClaimRevision = (details: unknown, purchaseId?: string) => string | undefined;

/** Why a customer owns a purchase or does not own it. */
export function OwnershipReason({ user, purchaseId, revision }: OwnershipReasonProps) {
  const { data, error } = useApi(purchaseEndpoints.getPurchaseOwners, { params: { purchaseId } }, { revision });
  if (error !== undefined) return <p class="quiet">The reason of the ownership cannot be loaded.</p>;
  return <p class="quiet">{data ? describeOwnership(data, user) : '\u00a0'}</p>;
}

const claimingEvents: readonly string[] = ['receipt.validated', 'purchase.claimed'];

/** Returns the id of the latest validation or link of the customer. With `purchaseId`, of this purchase. */
export const findLatestClaim = (timeline: readonly TimelineRecord[], purchaseId?: string): string | undefined =>
  timeline
    .filter((row) => row.type === 'event')
    .find(
      ({ eventType, purchaseIds }) =>
        claimingEvents.includes(eventType) && (purchaseId === undefined || purchaseIds?.includes(purchaseId)),
    )?.eventId;
