import { dayMs, type EpochMillis, hourMs } from '../../shared/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { connectPlay } from './connect-play.ts';
import { toVoidedNotification } from './parse-notification.ts';
import type { VoidedPurchases } from './payloads.ts';
import { isPlayId } from './play-id.ts';
import { parseStoredSettings } from './settings.ts';

/** Google Play lists voided purchases for 30 days. One hour less allows for a clock difference. */
const voidedRetentionMs = 30 * dayMs - hourMs;

/** Runs on a schedule, so the budget is larger than for a validation. */
const budgetMs = 50_000;

/**
 * Lists the voided purchases since a time: Google Play does not notify all of them, and offers no other list. Returns
 * none without a service account. Throws `ConnectionFailed` or `InternalError` like `validate`.
 * @see https://developers.google.com/android-publisher/voided-purchases
 */
export async function listUndelivered(
  since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> {
  if (!parseStoredSettings(context.settings).serviceAccount) return [];
  const play = connectPlay(context, { budgetMs });
  const startTime = Math.max(since, context.now() - voidedRetentionMs);
  const notifications: StoreNotification[] = [];
  const visitedPages = new Set<string>();
  for (let pageToken = ''; !visitedPages.has(pageToken); ) {
    visitedPages.add(pageToken);
    const { voidedPurchases, tokenPagination } = await play.listVoidedPurchases(startTime, pageToken || undefined);
    notifications.push(...voidedPurchases.flatMap(toNotification));
    pageToken = tokenPagination?.nextPageToken ?? '';
  }
  return notifications;
}

function toNotification(voided: VoidedPurchases['voidedPurchases'][number]): StoreNotification[] {
  const { purchaseToken: token, orderId, voidedTimeMillis: occurredAt, voidedQuantity, voidedReason } = voided;
  if (!isPlayId(token) || !isPlayId(orderId)) return [];
  const isPartial = voidedQuantity !== undefined;
  return [
    toVoidedNotification({
      token,
      orderId,
      occurredAt,
      isPartial,
      ...(voidedReason !== undefined && { voidedReason }),
    }),
  ];
}
