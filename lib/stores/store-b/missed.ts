import type { Millis } from '../../purchases/purchase.ts';
import type { Asking, StoreMessage } from '../store.ts';
import { connected } from './connected.ts';
import { voidedMessage } from './developer-notification.ts';
import type { VoidedPurchases } from './payloads.ts';
import { isPlayId } from './play.ts';
import { storeBSettings } from './settings.ts';

/** How far back Google lists them; an hour less, as our clock is not Google's. */
const memoryMs = 30 * 86_400_000 - 3_600_000;

/** This runs on a schedule, where nobody waits. */
const totalMs = 50_000;

/**
 * What was taken back since then: the only thing that Google lists, and that it does not always push. None without a
 * service account. Throws `ConnectionFailed`, and `InternalError` for settings that Google refuses.
 */
export async function missed(since: Millis, asking: Asking): Promise<readonly StoreMessage[]> {
  if (!storeBSettings(asking.settings).serviceAccount) return [];
  const play = connected(asking, totalMs);
  const from = Math.max(since, asking.now() - memoryMs);
  const messages: StoreMessage[] = [];
  const seen = new Set<string>();
  for (let page = ''; !seen.has(page); ) {
    seen.add(page);
    const { voidedPurchases, tokenPagination } = await play.voided(from, page || undefined);
    messages.push(...voidedPurchases.flatMap(messageOf));
    page = tokenPagination?.nextPageToken ?? '';
  }
  return messages;
}

function messageOf(voided: VoidedPurchases['voidedPurchases'][number]): StoreMessage[] {
  const { purchaseToken: token, orderId, voidedTimeMillis: at, voidedQuantity, voidedReason } = voided;
  if (!isPlayId(token) || !isPlayId(orderId)) return [];
  const isPartial = voidedQuantity !== undefined;
  return [voidedMessage({ token, orderId, at, isPartial, ...(voidedReason !== undefined && { voidedReason }) })];
}
