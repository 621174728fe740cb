import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { listVoidedOrders, type VoidedOrder, voidedRetentionMs } from './list-voided-orders.ts';
import { toVoidedNotification } from './parse-notification.ts';
import { connectPlay, isPlayId } from './play-api.ts';
import { parseStoredSettings } from './settings.ts';

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
  return (await listVoidedOrders(play, startTime)).flatMap(toNotification);
}

function toNotification(voided: VoidedOrder): StoreNotification[] {
  const { purchaseToken: token, orderId, voidedTimeMillis: occurredAt, voidedQuantity } = voided;
  const { voidedReason, voidedSource } = voided;
  if (!isPlayId(token) || !isPlayId(orderId)) return [];
  const isPartial = voidedQuantity !== undefined;
  const cause = omitUndefined({ voidedReason, voidedSource });
  return [toVoidedNotification({ token, orderId, occurredAt, isPartial, ...cause })];
}
