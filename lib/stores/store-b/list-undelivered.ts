import type { EpochMillis } from '../../shared/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { connectPlay } from './connect-play.ts';
import { toVoidedNotification } from './parse-notification.ts';
import type { VoidedPurchases } from './payloads.ts';
import { isPlayId } from './play-api.ts';
import { parseStoredSettings } from './settings.ts';

/** How far back Google lists them; an hour less, as our clock is not Google's. */
const voidedRetentionMs = 30 * 86_400_000 - 3_600_000;

/** This runs on a schedule, where nobody waits. */
const totalMs = 50_000;

/**
 * What was taken back since then: the only thing that Google lists, and that it does not always push. None without a
 * service account. Throws `ConnectionFailed`, and `InternalError` for settings that Google refuses.
 */
export async function listUndelivered(
  since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> {
  if (!parseStoredSettings(context.settings).serviceAccount) return [];
  const play = connectPlay(context, totalMs);
  const from = Math.max(since, context.now() - voidedRetentionMs);
  const messages: StoreNotification[] = [];
  const seenPages = new Set<string>();
  for (let page = ''; !seenPages.has(page); ) {
    seenPages.add(page);
    const { voidedPurchases, tokenPagination } = await play.listVoidedPurchases(from, page || undefined);
    messages.push(...voidedPurchases.flatMap(toNotification));
    page = tokenPagination?.nextPageToken ?? '';
  }
  return messages;
}

function toNotification(voided: VoidedPurchases['voidedPurchases'][number]): StoreNotification[] {
  const { purchaseToken: token, orderId, voidedTimeMillis: at, voidedQuantity, voidedReason } = voided;
  if (!isPlayId(token) || !isPlayId(orderId)) return [];
  const isPartial = voidedQuantity !== undefined;
  return [toVoidedNotification({ token, orderId, at, isPartial, ...(voidedReason !== undefined && { voidedReason }) })];
}
