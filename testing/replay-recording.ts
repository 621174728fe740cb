import * as v from 'valibot';
import type { Exchange, RecordedNotification, Recording } from '../cli/prove/recording.ts';
import * as appStoreKeys from '../emulator/app-store/keys.ts';
import { signPayload } from '../emulator/app-store/response-context.ts';
import { toOutgoingNotification as toBraintreeRequest } from '../emulator/braintree/webhook.ts';
import { signJwt } from '../emulator/crypto/jwt.ts';
import * as googlePlayKeys from '../emulator/google-play/keys.ts';
import {
  handleCertsRequest,
  toOutgoingNotification as toGooglePlayRequest,
} from '../emulator/google-play/pubsub-push.ts';
import type { OutgoingNotification } from '../emulator/outgoing-notification.ts';
import { toOutgoingNotification as toStripeRequest } from '../emulator/stripe/webhook.ts';
import { getStoreKeys } from './run-keys.ts';

const Signed = v.object({
  $signed: v.object({ header: v.object({ alg: v.optional(v.string()) }), payload: v.record(v.string(), v.unknown()) }),
});

/** Signs the decoded content of a recording with the keys of the emulated stores. */
export function signContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(signContent);
  if (typeof value !== 'object' || value === null) return value;
  if (v.is(Signed, value)) {
    const payload = signContent(value.$signed.payload) as object;
    return value.$signed.header.alg === 'RS256'
      ? signJwt({ alg: 'RS256', typ: 'JWT' }, payload, getGoogleKeys().pushPrivateKey)
      : signPayload(getAppStoreKeys(), payload);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, signContent(member)]));
}

const getAppStoreKeys = () => v.parse(appStoreKeys.Keys, getStoreKeys().store_a);
const getGoogleKeys = () => v.parse(googlePlayKeys.Keys, getStoreKeys().store_b);

/** The stores of a recording: they respond as recorded in the current step. */
export interface RecordedStores {
  setExchanges(exchanges: readonly Exchange[]): void;
  /** Responds to a request at `/<host>/<path>`. */
  respond(method: string, url: URL): { readonly status: number; readonly body: string };
  /** Requests without a recorded response. */
  readonly unanswered: string[];
}

export function createRecordedStores(): RecordedStores {
  let exchanges: readonly Exchange[] = [];
  let uses = new Map<string, number>();
  const unanswered: string[] = [];
  return {
    unanswered,
    setExchanges(next) {
      exchanges = next;
      uses = new Map();
    },
    respond(method, { pathname, search }) {
      const [, host = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
      if (host === 'oauth2.googleapis.com' || host === 'login.microsoftonline.com') return tokenResponse;
      if (host === 'www.googleapis.com') return { status: 200, body: String(handleCertsRequest(getGoogleKeys()).body) };
      const target = normalize(`https://${host}${path}${search}`);
      const matches = exchanges.filter((exchange) => exchange.method === method && normalize(exchange.url) === target);
      const use = uses.get(`${method} ${target}`) ?? 0;
      uses.set(`${method} ${target}`, use + 1);
      // A request that is repeated more often than in the recording has the last response.
      const match = matches[Math.min(use, matches.length - 1)];
      if (match) return { status: match.status, body: toText(match.body) };
      unanswered.push(`${method} ${target}`);
      return { status: 503, body: '' };
    },
  };
}

const tokenResponse = {
  status: 200,
  body: JSON.stringify({ access_token: 'replayed', expires_in: 3600, token_type: 'Bearer' }),
};

const toText = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(signContent(body)));

function normalize(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  // Earlier releases listed the paid invoices of Stripe only.
  if (pathname === '/v1/invoices') searchParams.delete('status');
  // They did not expand the discounts of items.
  for (const [name, value] of [...searchParams]) if (value === 'items.data.discounts') searchParams.delete(name);
  searchParams.sort();
  return `${origin}${decodeURIComponent(pathname)}?${searchParams}`;
}

/**
 * Builds the request of a notification: the App Store has the payload, for other stores it follows from the type.
 * Undefined for a type whose object is not in the recording.
 */
export function toNotificationRequest(
  { type, receivedAt, content }: RecordedNotification,
  { platform, settings, purchaseId, refreshToken }: Recording,
  secrets: Readonly<Record<string, unknown>>,
): OutgoingNotification | undefined {
  const id = purchaseId.slice(purchaseId.indexOf(':') + 1);
  const event = { purchaseId: id, at: receivedAt };
  if (platform === 'store_a') return toAppStoreRequest(content);
  if (platform === 'store_b') {
    const [, name = ''] = /^SUBSCRIPTION_(\w+)$/.exec(type) ?? [];
    const notificationType = subscriptionTypes.indexOf(name);
    if (notificationType < 0) return undefined;
    const subscriptionNotification = { version: '1.0', notificationType, purchaseToken: refreshToken.purchaseToken };
    const { packageName } = settings;
    const native = { version: '1.0', packageName, eventTimeMillis: String(receivedAt), subscriptionNotification };
    return toGooglePlayRequest(getGoogleKeys(), { ...event, native });
  }
  if (platform === 'processor_a') {
    const object = type.startsWith('customer.subscription.')
      ? { id, object: 'subscription' }
      : { id: 'in_replayed', object: 'invoice', parent: { subscription_details: { subscription: id } } };
    if (!/^(?:customer\.subscription|invoice)\./.test(type)) return undefined;
    const native = { id: `evt_${receivedAt}${type}`, object: 'event', type, created: Math.floor(receivedAt / 1000) };
    const [secret = ''] = secrets.webhookSecrets as string[];
    return toStripeRequest(secret, { ...event, native: { ...native, livemode: true, data: { object } } });
  }
  if (platform === 'processor_b' && type.startsWith('subscription_')) {
    const timestamp = new Date(receivedAt);
    const native = { kind: type, timestamp, subject: { subscription: { id } } };
    return toBraintreeRequest(
      secrets as unknown as Parameters<typeof toBraintreeRequest>[0],
      { ...event, native } as never,
    );
  }
  return undefined;
}

function toAppStoreRequest(content: unknown): OutgoingNotification {
  const body = JSON.stringify({ signedPayload: signContent(content) });
  return { body, buildHeaders: () => ({}), retryDelaysMs: [], isDelivered: () => true };
}

/**
 * Names of the notification types by their number.
 * @see https://developer.android.com/google/play/billing/rtdn-reference
 */
const subscriptionTypes = [
  ...['', 'RECOVERED', 'RENEWED', 'CANCELED', 'PURCHASED', 'ON_HOLD', 'IN_GRACE_PERIOD', 'RESTARTED'],
  ...['PRICE_CHANGE_CONFIRMED', 'DEFERRED', 'PAUSED', 'PAUSE_SCHEDULE_CHANGED', 'REVOKED', 'EXPIRED'],
];
