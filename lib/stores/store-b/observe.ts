import type { Observation } from '../../purchases/observation.ts';
import { isExpired } from '../../purchases/purchase.ts';
import { parse } from '../../shared/parse.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { connectPlay } from './connect-play.ts';
import { lookUpToken } from './lookup.ts';
import { type ObservedFacts, toNotificationReason } from './notification-reason.ts';
import { NotificationPayload } from './parse-notification.ts';
import { withEndDate } from './revocation.ts';
import { applyVoidedOrder, type VoidedOrderContext } from './voided-order.ts';

/**
 * Queries the current state of the purchase that a notification is about. Throws `InternalError` without a service
 * account: the notification then stays in the queue instead of being lost.
 */
export async function observe(notification: StoreNotification, context: StoreContext): Promise<ObservedNotification> {
  const payload = parse(NotificationPayload, notification.payload);
  const { token, productId = '' } = payload;
  if (token === undefined) return { reason: toNotificationReason(notification.type), observations: [] };
  const play = connectPlay(context);
  const now = context.now();
  const request = { token, hints: undefined, productId, isSubscription: payload.kind !== 'product' };
  const result = await lookUpToken(request, { play, now, storedData: context });
  // A purchase that Google Play has deleted ended by its expiration date long ago.
  const observations = result === undefined || result === 'gone' ? [] : result.observations;
  const isOwn = ({ purchase: { purchaseId } }: Observation) => isPurchaseOfToken(token, purchaseId);
  const own = observations.filter(isOwn);
  const replaced = observations.filter((observation) => !isOwn(observation));
  const updated = await applyNotification(notification, { payload, own, play, now });
  return {
    reason: toNotificationReason(notification.type, summarizeObservations(own, replaced, now)),
    observations: [...updated, ...replaced],
  };
}

/** Adds what the queried state lacks and the notification has. */
async function applyNotification(
  { type, occurredAt }: StoreNotification,
  context: Omit<VoidedOrderContext, 'voidedAt'>,
): Promise<readonly Observation[]> {
  const { payload, own, now } = context;
  if (type === 'SUBSCRIPTION_REVOKED') return own.map((observation) => withEndDate(observation, occurredAt, now));
  return payload.voidedOrderId === undefined ? own : await applyVoidedOrder({ ...context, voidedAt: occurredAt });
}

const isPurchaseOfToken = (token: string, purchaseId: string): boolean =>
  purchaseId === withPlatform('store_b', token) || purchaseId.startsWith(`${withPlatform('store_b', token)}:`);

function summarizeObservations(
  [first, ...rest]: readonly Observation[],
  replaced: readonly Observation[],
  now: EpochMillis,
): ObservedFacts {
  if (!first) return {};
  const { purchase, replacedPurchaseId } = first;
  const predecessor = replaced.find((observation) => observation.purchase.purchaseId === replacedPurchaseId);
  return {
    isExpired: isExpired(purchase, now),
    isPaid: [first, ...rest].some(({ transactions }) => transactions.length > 0),
    replacesOther: predecessor !== undefined && predecessor.purchase.productId !== purchase.productId,
    ...(purchase.priceConsentStatus && { priceConsentStatus: purchase.priceConsentStatus }),
  };
}
