import type { EpochMillis } from '../foundation/time.ts';
import { getAccessEnd, isActive, isUnpaid, type Purchase } from './purchase.ts';

/**
 * Access until the end (`live`, `ending`), access that is over (`past`), or no payment (`unpaid`). An `ending` purchase
 * has an end but no expiration date, for example a refunded non-consumable.
 */
type AccessPhase = 'live' | 'ending' | 'past' | 'unpaid';

/** A place of a purchase among a customer's purchases. Independent of the current time, so that it can be stored. */
export interface PurchaseRank {
  readonly phase: AccessPhase;
  /** End of access. 0 for a purchase without access and without expiration date, so that the purchase date decides. */
  readonly end: EpochMillis;
}

/**
 * Returns the ranks of a purchase, one after the other in time. The first one gives access until its end, if any does.
 */
export function listRanks(purchase: Purchase): [PurchaseRank, ...PurchaseRank[]] {
  const { expirationDate, endedAt, ...permanent } = purchase;
  const end = getAccessEnd(purchase);
  const over = { end: expirationDate === undefined ? 0 : end };
  if (isUnpaid(purchase)) return [{ phase: 'unpaid', ...over }];
  if (!isActive(permanent, 0)) return [{ phase: 'past', ...over }];
  const isEnding = endedAt !== undefined && expirationDate === undefined;
  return isEnding
    ? [
        { phase: 'ending', end },
        { phase: 'past', ...over },
      ]
    : [{ phase: 'live', end }];
}

const isActiveRank = ({ phase, end }: PurchaseRank, now: EpochMillis): boolean =>
  (phase === 'live' || phase === 'ending') && end > now;

/**
 * Compares two purchases at `now`: an active one takes precedence, then the latest end, then the latest purchase date.
 * The best purchase of each phase is enough to find the best of all, at any time.
 */
export function comparePurchases(a: Purchase, b: Purchase, now: EpochMillis): number {
  const [rankA, rankB] = [findRank(a, now), findRank(b, now)];
  return (
    Number(isActiveRank(rankB, now)) - Number(isActiveRank(rankA, now)) ||
    rankB.end - rankA.end ||
    compareByPurchaseDate(a, b)
  );
}

function findRank(purchase: Purchase, now: EpochMillis): PurchaseRank {
  const [first, next = first] = listRanks(purchase);
  return isActiveRank(first, now) ? first : next;
}

/** Compares two purchases: the latest purchase date takes precedence. */
export const compareByPurchaseDate = (a: Purchase, b: Purchase): number =>
  (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0) || compareBytes(b.purchaseId, a.purchaseId);

/** Compares as DynamoDB sorts keys. */
const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
