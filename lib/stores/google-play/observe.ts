import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { hasOtherPlan, isExpired, type Purchase, withVoidReason } from '../../purchases/purchase.ts';
import type { ObservedNotification, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { markForFulfillment } from './fulfill.ts';
import { lookUpToken, type MissingKind } from './lookup.ts';
import type { PaymentNotification } from './mapping-context.ts';
import { observeDeletion, observeStored } from './missing-token.ts';
import { type ObservedFacts, toNotificationReason } from './notification-reason.ts';
import { NotificationPayload } from './parse-notification.ts';
import { connectPlay } from './play-api.ts';
import { toRefundOutcome, toRefundRequest } from './refund-review.ts';
import { withEndDate } from './revocation.ts';
import { parseStoredSettings } from './settings.ts';
import { applyVoidedOrder, type VoidedOrderContext } from './voided-order.ts';

/**
 * Queries the current state of the purchase that a notification is about. Throws `InternalError` without a service
 * account: the notification then stays in the queue instead of being lost.
 */
export async function observe(notification: StoreNotification, context: StoreContext): Promise<ObservedNotification> {
  const payload = parse(NotificationPayload, notification.payload);
  const { token, productId = '' } = payload;
  if (payload.refundReview) {
    const refundRequest = await toRefundRequest(notification, payload.refundReview, connectPlay(context));
    return { reason: 'OTHER', observations: [], refundRequest };
  }
  if (token === undefined) return { reason: toNotificationReason(notification.type), observations: [] };
  const play = connectPlay(context);
  const now = context.now();
  const request = { token, hints: undefined, productId, isSubscription: payload.kind !== 'product' };
  const paymentNotification = toPaymentNotification(notification);
  const endNotifiedAt = isEndNotification(notification) ? notification.occurredAt : undefined;
  const lookup = { play, now, storedData: context, ...omitUndefined({ paymentNotification, endNotifiedAt }) };
  const result = await lookUpToken(request, lookup);
  const observations =
    typeof result === 'object' ? result.observations : await observeMissing(result, { payload, token, now, context });
  const isOwn = ({ purchase: { purchaseId } }: Observation) => isPurchaseOfToken(token, purchaseId);
  const own = observations.filter(isOwn);
  const replaced = observations.filter((observation) => !isOwn(observation));
  const updated = await applyNotification(notification, { payload, own, play, now, storedData: context });
  const refundOutcome = toRefundOutcome(payload);
  return {
    reason: toNotificationReason(notification.type, summarizeObservations(own, { updated, replaced, payload, now })),
    observations: markForFulfillment([...updated, ...replaced], parseStoredSettings(context.settings), now),
    ...(refundOutcome && { refundOutcome }),
  };
}

/** Observes the stored purchase of a token that Google Play does not have. A refund can be reported that late. */
async function observeMissing(
  missing: MissingKind,
  {
    payload,
    context: storedData,
    ...token
  }: {
    readonly payload: NotificationPayload;
    readonly token: string;
    readonly now: EpochMillis;
    readonly context: StoreContext;
  },
): Promise<Observation[]> {
  if (missing === 'invalid') return [];
  const deleted = await observeDeletion({ ...token, storedData });
  if (deleted.length > 0 || payload.voidedOrderId === undefined) return deleted;
  return await observeStored({ ...token, storedData });
}

const isEndNotification = ({ type, payload: { isPartial } }: StoreNotification): boolean =>
  type === 'ONE_TIME_PRODUCT_CANCELED' || (type === 'VOIDED_PURCHASE' && isPartial !== true);

const recoveryType = 'SUBSCRIPTION_RECOVERED';

const toPaymentNotification = ({ type, occurredAt }: StoreNotification): PaymentNotification | undefined =>
  type === recoveryType || type === 'SUBSCRIPTION_RENEWED'
    ? { occurredAt, isRecovery: type === recoveryType }
    : undefined;

/** Adds what the queried state lacks and the notification has. */
async function applyNotification(
  { type, occurredAt }: StoreNotification,
  context: Omit<VoidedOrderContext, 'voidedAt'>,
): Promise<readonly Observation[]> {
  const { payload, own, now } = context;
  if (type === 'SUBSCRIPTION_REVOKED') return own.map((observation) => withEndDate(observation, occurredAt, now));
  if (payload.voidedOrderId !== undefined) return await applyVoidedOrder({ ...context, voidedAt: occurredAt });
  return own.map((observation) => withIntentChangeDate(observation, { type, occurredAt }));
}

/** Renewal intent after each notification that reports its change. */
const changedIntents: Readonly<Record<string, Purchase['renewalIntent']>> = {
  SUBSCRIPTION_RESTARTED: 'Renew',
  SUBSCRIPTION_CANCELED: 'Lapse',
  SUBSCRIPTION_CANCELLATION_SCHEDULED: 'Lapse',
};

/** Dates the change of the renewal intent by its notification: Google Play reports only the time of a cancellation. */
function withIntentChangeDate(
  observation: Observation,
  { type, occurredAt }: Pick<StoreNotification, 'type' | 'occurredAt'>,
): Observation {
  const { purchase } = observation;
  const isCurrent = Object.hasOwn(changedIntents, type) && changedIntents[type] === purchase.renewalIntent;
  return isCurrent ? { ...observation, purchase: { renewalIntentChangeDate: occurredAt, ...purchase } } : observation;
}

const isPurchaseOfToken = (token: string, purchaseId: string): boolean =>
  purchaseId === withPlatform(platformTokens.googlePlay, token) ||
  purchaseId.startsWith(`${withPlatform(platformTokens.googlePlay, token)}:`);

const isRevoked = (observation: Observation, voidedOrderId: string | undefined, now: EpochMillis): boolean =>
  voidedOrderId !== undefined &&
  observation.purchase.transactionId === withPlatform(platformTokens.googlePlay, voidedOrderId) &&
  isExpired(observation.purchase, now) &&
  isEndedBySystem(observation);

function isEndedBySystem({ purchase, transactions }: Observation): boolean {
  const latest = transactions.find(({ transactionId }) => transactionId === purchase.transactionId);
  return withVoidReason(purchase, latest).cancelationReason === 'System';
}

function summarizeObservations(
  [first, ...rest]: readonly Observation[],
  {
    updated,
    replaced,
    payload: { voidedOrderId },
    now,
  }: {
    /** The observations with what the notification adds. */
    readonly updated: readonly Observation[];
    readonly replaced: readonly Observation[];
    readonly payload: NotificationPayload;
    readonly now: EpochMillis;
  },
): ObservedFacts {
  if (!first) return {};
  const { purchase, replacedPurchaseId } = first;
  const predecessor = replaced.find((observation) => observation.purchase.purchaseId === replacedPurchaseId);
  return {
    isExpired: isExpired(purchase, now),
    isRevoked: [first, ...updated].some((observation) => isRevoked(observation, voidedOrderId, now)),
    isPaid: [first, ...rest].some(({ transactions }) => transactions.length > 0),
    isPlanChange: predecessor !== undefined && hasOtherPlan(predecessor.purchase, purchase),
    ...(purchase.priceConsentStatus && { priceConsentStatus: purchase.priceConsentStatus }),
  };
}
