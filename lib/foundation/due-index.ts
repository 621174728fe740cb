import { listShards, pickShard } from './item-key.ts';
import { type Key, toSortableTimestamp } from './key.ts';
import { creditAccountKey, deliveryKey, grantKey, purchaseKey, refundRequestKey, toRefundRequestId } from './keys.ts';
import { dayMs, type EpochMillis } from './time.ts';

/** A refresh that follows an interval and no date of the store. It can be postponed. */
export interface IntervalCheck {
  /**
   * The next checks, if a store notification reports every change. Absent for the Microsoft Store and for reversals,
   * because only the checks find their changes.
   */
  readonly repetition?: CheckRepetition;
}

/** Interval checks that follow a check without a change. */
interface CheckRepetition {
  readonly intervalMs: number;
  /** Time from which a refresh follows a date of the store. */
  readonly until: EpochMillis;
}

/** A purchase to refresh, a webhook to retry, a grant or credits that have ended, or a refund request with a step. */
export type DueItem =
  | {
      readonly kind: 'purchase';
      readonly appName: string;
      readonly purchaseId: string;
      /** The refresh only searches for a lost store notification, so it can wait. */
      readonly isIntervalCheck?: boolean;
    }
  | { readonly kind: 'delivery'; readonly appName: string; readonly deliveryId: string }
  | { readonly kind: 'grant'; readonly appName: string; readonly username: string; readonly grantId: string }
  | { readonly kind: 'credits'; readonly appName: string; readonly username: string; readonly account: string }
  | { readonly kind: 'refundRequest'; readonly appName: string; readonly requestId: string };

/** Shards of the index `due`. It contains the items of all apps, and every refresh moves an item within it. */
const dueShardCount = 16;

/** The partitions of the index `due`. */
export const duePartitions: readonly string[] = listShards('DUE', dueShardCount);

/** Builds the index keys of an item that is due from `dueAt` on. */
export const dueIndexKeys = ({ pk }: Key, dueAt: EpochMillis, check?: IntervalCheck) => ({
  duePk: pickShard('DUE', pk, dueShardCount),
  dueSk: `${toSortableTimestamp(dueAt)}${check ? toCheckSuffix(check) : ''}`,
});

/**
 * Builds the end of the sort key of an interval check: its interval in days, in one character, and the day since 1970
 * in which the repetition ends. Checks without a repetition have neither. Few bytes, because many purchases have just
 * below 1,024, which one write unit contains.
 */
const toCheckSuffix = ({ repetition }: IntervalCheck): string =>
  repetition ? `#I${toBase36(repetition.intervalMs / dayMs)}${toBase36(Math.floor(repetition.until / dayMs))}` : '#I';
const toBase36 = (number: number): string => number.toString(36);

/** Returns the interval check of a due sort key. Undefined if the item is not an interval check. */
export function parseIntervalCheck(dueSk: string): IntervalCheck | undefined {
  const check = /^\d+#I(?:(\w)(\w+))?$/.exec(dueSk);
  if (!check) return undefined;
  const [, days, endDay = ''] = check;
  const toMs = (text: string): number => Number.parseInt(text, 36) * dayMs;
  return days === undefined ? {} : { repetition: { intervalMs: toMs(days), until: toMs(endDay) } };
}

/** Replaces the time of a due sort key. */
export const moveDueSortKey = (dueSk: string, dueAt: EpochMillis): string =>
  dueSk.replace(/^\d+/, toSortableTimestamp(dueAt));
/** Builds a sort key greater than the sort key of every item that is due at `now`. */
export const dueSortKeyLimit = (now: EpochMillis): string => toSortableTimestamp(now + 1);

/** Returns the due item with this key. Undefined if the key is of no kind that can be due. */
export function parseDueItemKey(key: Key): DueItem | undefined {
  if (grantKey.matches(key)) return { kind: 'grant', ...grantKey.parse(key) };
  if (creditAccountKey.matches(key)) return { kind: 'credits', ...creditAccountKey.parse(key) };
  if (purchaseKey.matches(key)) return { kind: 'purchase', ...purchaseKey.parse(key) };
  if (refundRequestKey.matches(key)) {
    const { appName, ...parts } = refundRequestKey.parse(key);
    return { kind: 'refundRequest', appName, requestId: toRefundRequestId(parts) };
  }
  return deliveryKey.matches(key) ? { kind: 'delivery', ...deliveryKey.parse(key) } : undefined;
}
