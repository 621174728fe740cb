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
import { applyVoidedOrder } from './voided-order.ts';

/**
 * What a notification tells: the state of its purchase as Google has it now. Without a service account it cannot be known
 * at all, which is an `InternalError` for the operator to see: nothing that is told is lost in silence.
 */
export async function observe(message: StoreNotification, context: StoreContext): Promise<ObservedNotification> {
  const content = parse(NotificationPayload, message.payload);
  const { token, productId = '' } = content;
  if (token === undefined) return { reason: toNotificationReason(message.type), observations: [] };
  const play = connectPlay(context);
  const now = context.now();
  const wanted = { token, hints: undefined, productId, isSubscription: content.kind !== 'product' };
  const found = await lookUpToken(wanted, { play, now });
  // What Google knows no more ended long ago, by its date.
  const observations = found === undefined || found === 'gone' ? [] : found.observations;
  const isOwn = ({ purchase: { purchaseId } }: Observation) => isPurchaseOfToken(token, purchaseId);
  const own = observations.filter(isOwn);
  const others = observations.filter((observation) => !isOwn(observation));
  const told = await applyNotification(message, { content, own, asking: { play, now } });
  return {
    reason: toNotificationReason(message.type, summarizeObservations(own, others, now)),
    observations: [...told, ...others],
  };
}

type NotificationContext = Parameters<typeof applyVoidedOrder>[0];

/** What the re-read state does not say, and the notification does. */
async function applyNotification(
  { type, occurredAt }: StoreNotification,
  noticing: Omit<NotificationContext, 'at'>,
): Promise<readonly Observation[]> {
  if (type === 'SUBSCRIPTION_REVOKED') {
    const { own, asking: context } = noticing;
    return own.map((observation) => withEndDate(observation, occurredAt, context.now));
  }
  return noticing.content.voidedOrderId === undefined
    ? noticing.own
    : await applyVoidedOrder({ ...noticing, at: occurredAt });
}

const isPurchaseOfToken = (token: string, purchaseId: string): boolean =>
  purchaseId === withPlatform('store_b', token) || purchaseId.startsWith(`${withPlatform('store_b', token)}:`);

function summarizeObservations(
  [first, ...rest]: readonly Observation[],
  others: readonly Observation[],
  now: EpochMillis,
): ObservedFacts {
  if (!first) return {};
  const { purchase, replacedPurchaseId } = first;
  const replaced = others.find((other) => other.purchase.purchaseId === replacedPurchaseId);
  return {
    isExpired: isExpired(purchase, now),
    isPaid: [first, ...rest].some(({ transactions }) => transactions.length > 0),
    replacesOther: replaced !== undefined && replaced.purchase.productId !== purchase.productId,
    ...(purchase.priceConsentStatus && { priceConsentStatus: purchase.priceConsentStatus }),
  };
}
