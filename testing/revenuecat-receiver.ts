import { type HttpServer, startHttpServer } from '../local/http-server.ts';
import { post } from './request-relay.ts';

/** A subscription as the last notification of its store described it. */
interface NotifiedSubscription {
  readonly platform: 'store_a' | 'store_b';
  /** Original transaction id or purchase token. */
  readonly id: string;
  /** Latest transaction of the App Store, or latest order of Google Play. */
  readonly storeIdentifier: string;
  readonly expiresAt: number;
}

/** A webhook of RevenueCat to the server of the app. */
interface SentWebhook {
  readonly type: string;
  readonly id: string;
}

interface ReceiverOptions {
  /** Queries Google Play, because its notifications contain a purchase token only. */
  readonly queryGooglePlay: (token: string) => Promise<Pick<NotifiedSubscription, 'storeIdentifier' | 'expiresAt'>>;
}

/**
 * The part of RevenueCat that receives the notifications of the stores, at `/apple` and `/google`. It has no other
 * source: a subscription whose notification is lost stays outdated.
 */
export interface RevenueCatReceiver extends HttpServer {
  find(id: string): NotifiedSubscription | undefined;
  /** Sets the URL for the notifications of the App Store, which are sent on as they came. Undefined sends none. */
  forwardTo(url: string | undefined): void;
  /** Turns the webhooks on or off. They are on at first. */
  enableWebhooks(isEnabled: boolean): void;
  /** The sent webhooks. A notification that is received repeatedly has one. */
  readonly webhooks: readonly SentWebhook[];
}

interface Notification {
  /** The store's id of the notification. */
  readonly key: string;
  readonly type: string;
  readonly subscription: NotifiedSubscription;
}

const webhookTypes: Readonly<Record<string, string>> = {
  SUBSCRIBED: 'INITIAL_PURCHASE',
  DID_RENEW: 'RENEWAL',
  DID_CHANGE_RENEWAL_STATUS: 'CANCELLATION',
  2: 'RENEWAL',
  3: 'CANCELLATION',
  4: 'INITIAL_PURCHASE',
};

/** @see https://www.revenuecat.com/docs/platform-resources/server-notifications */
export async function startRevenueCatReceiver({ queryGooglePlay }: ReceiverOptions): Promise<RevenueCatReceiver> {
  const subscriptions = new Map<string, NotifiedSubscription>();
  const received = new Set<string>();
  const webhooks: SentWebhook[] = [];
  let [forwardUrl, sendsWebhooks]: [string | undefined, boolean] = [undefined, true];
  const server = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const isApple = request.url === '/apple';
    const notification = isApple ? parseApple(body) : await parseGoogle(body, queryGooglePlay);
    const isNew = notification !== undefined && !received.has(notification.key);
    if (notification && isNew) {
      const { key, type, subscription } = notification;
      received.add(key);
      if (subscription.expiresAt >= (subscriptions.get(subscription.id)?.expiresAt ?? 0))
        subscriptions.set(subscription.id, subscription);
      if (sendsWebhooks) webhooks.push({ type: webhookTypes[type] ?? 'OTHER', id: subscription.id });
    }
    const contentType = { 'content-type': String(request.headers['content-type']) };
    const status = isApple && forwardUrl !== undefined ? await post(forwardUrl, contentType, body) : 200;
    response.writeHead(status).end();
  });
  return {
    ...server,
    webhooks,
    find: (id) => subscriptions.get(id),
    forwardTo(url) {
      forwardUrl = url;
    },
    enableWebhooks(isEnabled) {
      sendsWebhooks = isEnabled;
    },
  };
}

/** @see https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload */
function parseApple(body: Buffer): Notification | undefined {
  const { notificationUUID: key, notificationType: type, data } = decodePayload(parseObject(body).signedPayload);
  if (!data?.signedTransactionInfo) return undefined;
  const { originalTransactionId: id, transactionId, expiresDate } = decodePayload(data.signedTransactionInfo);
  const subscription = { platform: 'store_a', id, storeIdentifier: transactionId, expiresAt: expiresDate } as const;
  return { key, type, subscription };
}

/** @see https://developer.android.com/google/play/billing/rtdn-reference */
async function parseGoogle(
  body: Buffer,
  queryGooglePlay: ReceiverOptions['queryGooglePlay'],
): Promise<Notification | undefined> {
  const { message } = parseObject(body);
  const { subscriptionNotification } = parseObject(Buffer.from(message.data, 'base64'));
  if (!subscriptionNotification) return undefined;
  const { purchaseToken: id, notificationType } = subscriptionNotification;
  const subscription = { platform: 'store_b', id, ...(await queryGooglePlay(id)) } as const;
  return { key: message.messageId, type: String(notificationType), subscription };
}

// biome-ignore lint/suspicious/noExplicitAny: the payloads of two stores.
const parseObject = (body: Buffer): any => JSON.parse(body.toString('utf8'));

/** Decodes a signed payload. Only the service verifies signatures in the tests. */
const decodePayload = (jws: string) => parseObject(Buffer.from(jws.split('.')[1] ?? '', 'base64url'));
