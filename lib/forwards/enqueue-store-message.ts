import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { logWarning } from '../foundation/log.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { RawNotification, StoreNotification } from '../stores/store.ts';
import { findCachedForwards } from './forward-table.ts';

interface ReceivedMessage {
  readonly appName: string;
  readonly platform: Platform;
  readonly raw: RawNotification;
  readonly receivedAt: EpochMillis;
  /** The event that records the first notification. */
  readonly eventId: string;
  /** The content of the message. The first one identifies it. */
  readonly notifications: readonly StoreNotification[];
}

/** Headers that belong to the body: the receiver needs them to verify the message. */
const forwardedHeaders = ['content-type', 'stripe-signature', 'authorization'] as const;

/** A message is one message of the queue, which has at most 256 KB. */
const maxBodyBytes = 200_000;

/**
 * Enqueues a verified request of a store for the forwards of the app. A request without notifications is a challenge,
 * which is not forwarded.
 */
export async function enqueueStoreMessage(
  service: Service,
  { appName, platform, raw, notifications, ...ids }: ReceivedMessage,
): Promise<void> {
  const [notification] = notifications;
  const forwards = (await findCachedForwards(service, appName)) ?? [];
  if (!notification || !forwards.some(({ platforms }) => platforms?.includes(platform) ?? true)) return;
  if (Buffer.byteLength(JSON.stringify(raw.body)) > maxBodyBytes) {
    const failure = new ServiceError('InvalidPayload', 'A store notification is too large to be forwarded.');
    return logWarning({ app: appName, platform, type: notification.type }, failure);
  }
  const headers = forwardedHeaders.flatMap((name) => (raw.headers[name] ? [[name, raw.headers[name]] as const] : []));
  const { key, occurredAt } = notification;
  const content = { body: raw.body, headers: Object.fromEntries(headers) };
  const message = { ...ids, appName, platform, key, order: findPurchase(notification), occurredAt, content };
  await service.forwardQueue.send([message], { group: appName });
}

const Payload = v.object({
  /** Purchase token of Google Play. */
  token: v.optional(v.string()),
  /** Signed transaction of the App Store. */
  transaction: v.optional(v.string()),
  /** Object of Stripe. */
  subjectId: v.optional(v.string()),
  /** Subscription of Braintree. */
  subscription: v.optional(v.string()),
});
const SignedTransaction = v.object({ originalTransactionId: v.string() });

/** Returns an id of the purchase that a notification concerns. Default: the key of the notification. */
function findPurchase({ key, payload }: StoreNotification): string {
  const result = v.safeParse(Payload, payload);
  if (!result.success) return key;
  const { token, transaction, subjectId, subscription } = result.output;
  const text = Buffer.from(transaction?.split('.')[1] ?? '', 'base64url').toString('utf8');
  const signed = v.safeParse(v.pipe(v.string(), v.parseJson(), SignedTransaction), text);
  if (signed.success) return signed.output.originalTransactionId;
  return token ?? subjectId ?? subscription ?? key;
}
