import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { hashParts } from '../../foundation/key.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import type { RawNotification, ReceivedNotifications, StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { getLastPaidDay } from './access-end.ts';
import { isBraintreeError } from './api-errors.ts';
import { createGateway } from './braintree-client.ts';
import { getDayEnd } from './gateway-day.ts';
import { toNotificationReason } from './notification-reason.ts';
import { PaidTime } from './payloads.ts';
import { type BraintreeSettings, parseStoredSettings } from './settings.ts';

const Id = v.nullish(v.pipe(v.string(), v.minLength(1)));
const Reference = v.nullish(v.object({ id: Id }));

/**
 * A notification, parsed by the official client. Only its reason and its ids are used; `observe` fetches the purchase.
 */
const Notification = v.object({
  kind: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  timestamp: v.pipe(
    v.string(),
    v.transform((text) => Date.parse(text)),
    v.number(),
  ),
  subscription: v.nullish(v.object({ ...PaidTime.entries, id: Id, status: v.fallback(v.string(), '') })),
  transaction: v.nullish(v.object({ id: Id, subscriptionId: v.nullish(v.string()) })),
  transactionReview: v.nullish(v.object({ transactionId: Id })),
  dispute: v.nullish(v.object({ id: Id, transaction: Reference })),
});
type Notification = v.InferOutput<typeof Notification>;

/**
 * Verifies a notification (POST), or signs the challenge that Braintree sends to verify the endpoint (GET). Throws
 * `Forbidden` if the signature is invalid.
 *
 * @see https://developer.paypal.com/braintree/docs/guides/webhooks/parse/node
 */
export async function receive(raw: RawNotification, context: StoreContext): Promise<ReceivedNotifications> {
  if (raw.method === 'GET') {
    return { notifications: [], responseText: await signChallenge(raw.query.bt_challenge ?? '', context) };
  }
  const notification = parse(Notification, await verifyNotification(raw.body, context));
  return { notifications: [toNotification(notification, parseStoredSettings(context.settings))] };
}

/** A method that the types of the package omit. */
interface ChallengeGateway {
  readonly webhookNotification: { readonly verify: (challenge: string) => string };
}

async function signChallenge(challenge: string, context: StoreContext): Promise<string> {
  const { webhookNotification } = (await createGateway(context)) as unknown as ChallengeGateway;
  try {
    return webhookNotification.verify(challenge);
  } catch (cause) {
    throw new ServiceError('Forbidden', 'bt_challenge is not valid.', { cause });
  }
}

/**
 * Format of a challenge. The GET request returns the signature of any challenge. A notification is longer.
 *
 * @see https://github.com/braintree/braintree_node/blob/master/lib/braintree/webhook_notification_gateway.js
 */
const challengePattern = /^[\da-f]{20,32}$/i;

async function verifyNotification(body: string, context: StoreContext): Promise<unknown> {
  const form = new URLSearchParams(body);
  const payload = form.get('bt_payload') ?? '';
  if (challengePattern.test(payload.trim())) throw new ServiceError('Forbidden', 'The signature is invalid.');
  const { webhookNotification } = await createGateway(context);
  try {
    return await webhookNotification.parse(form.get('bt_signature') ?? '', payload);
  } catch (cause) {
    if (isBraintreeError(cause, 'invalidSignatureError')) {
      throw new ServiceError('Forbidden', 'The signature is invalid.', { cause });
    }
    throw new ServiceError('InvalidPayload', 'bt_payload is not valid.', { cause });
  }
}

function toNotification(
  { kind, timestamp: at, ...subject }: Notification,
  { timeZone }: Pick<BraintreeSettings, 'timeZone'>,
): StoreNotification {
  const { subscription, transaction, transactionReview, dispute } = subject;
  const subjectIds = omitUndefined({
    subscription: subscription?.id || transaction?.subscriptionId || undefined,
    transaction: (transaction?.id ?? transactionReview?.transactionId ?? dispute?.transaction?.id) || undefined,
  });
  const { currentBillingCycle, paidThroughDate } = subscription ?? {};
  const lastPaidDay = subscription && getLastPaidDay(subscription);
  const id = subscription?.id ?? dispute?.id ?? subjectIds.transaction ?? '';
  return {
    // Timestamps have a resolution of 1 s. The cycle and date distinguish two charges of a subscription in one second.
    key: deriveNotificationKey(kind, id, String(at), String(currentBillingCycle ?? ''), paidThroughDate ?? ''),
    type: kind,
    occurredAt: at,
    payload: {
      reason: toNotificationReason({
        kind,
        at,
        currentBillingCycle: currentBillingCycle ?? undefined,
        paidUntil: lastPaidDay ? getDayEnd(lastPaidDay, timeZone) : undefined,
      }),
      ...subjectIds,
    },
  };
}

/** Derives an idempotency key, because Braintree's notifications do not have an id. Redeliveries have the same key. */
export const deriveNotificationKey = (...parts: readonly string[]): string => hashParts(...parts);
