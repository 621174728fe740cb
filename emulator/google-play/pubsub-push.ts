import { createPublicKey, randomInt } from 'node:crypto';
import { dayMs, formatTime, minuteMs, secondMs, toEpochSeconds } from '../calendar.ts';
import { signJwt } from '../crypto/jwt.ts';
import type { StoreNotification } from '../emulated-store.ts';
import { type HttpResponse, jsonResponse } from '../http-messages.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { type Keys, pushAudience, pushServiceAccount } from './keys.ts';
import { subscriptionName } from './pubsub-api.ts';

// Source: https://cloud.google.com/pubsub/docs/push
const ackStatuses: readonly number[] = [102, 200, 201, 202, 204];
const retentionMs = 7 * dayMs;
const ttlSeconds = 3600;
const accountId = '108273645102938475610';

/**
 * Builds the push request of a real-time developer notification: a wrapped message with a token of the push service
 * account. An unwrapped message is the data alone.
 *
 * @see https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 * @see https://cloud.google.com/pubsub/docs/payload-unwrapping
 */
export function toOutgoingNotification(
  keys: Keys,
  { at, native }: StoreNotification,
  isUnwrapped = false,
): OutgoingNotification {
  const messageId = String(randomInt(10 ** 14, 2 ** 47 - 1));
  const publishTime = formatTime(at);
  const data = Buffer.from(JSON.stringify(native)).toString('base64');
  const message = { data, messageId, message_id: messageId, publishTime, publish_time: publishTime };
  return {
    body: isUnwrapped ? JSON.stringify(native) : JSON.stringify({ message, subscription: subscriptionName }),
    buildHeaders: (sentAt) => ({
      'content-type': 'application/json',
      'user-agent': 'CloudPubSub-Google',
      authorization: `Bearer ${createIdentityToken(keys, toEpochSeconds(sentAt))}`,
    }),
    retryDelaysMs,
    isDelivered: (status) => ackStatuses.includes(status),
  };
}

/** Exponential backoff from 10 s to 10 min until the end of the retention (7 days). */
const retryDelaysMs = computeRetryDelays(retentionMs);

function computeRetryDelays(endMs: number): readonly number[] {
  const delays: number[] = [];
  for (let delay = 10 * secondMs, total = delay; total <= endMs; total += delay) {
    delays.push(delay);
    delay = Math.min(delay * 2, 10 * minuteMs);
  }
  return delays;
}

function createIdentityToken(keys: Keys, iat: number): string {
  const header = { alg: 'RS256', kid: keys.pushKeyId, typ: 'JWT' } as const;
  const claims = {
    aud: pushAudience,
    azp: accountId,
    email: pushServiceAccount,
    email_verified: true,
    exp: iat + ttlSeconds,
    iat,
    iss: 'https://accounts.google.com',
    sub: accountId,
  };
  return signJwt(header, claims, keys.pushPrivateKey);
}

/** `GET /oauth2/v3/certs`: returns the public key of the push tokens as a JWK set. */
export function handleCertsRequest({ pushKeyId, pushPrivateKey }: Keys): HttpResponse {
  const { n, e } = createPublicKey(pushPrivateKey).export({ format: 'jwk' });
  const key = { kid: pushKeyId, n, use: 'sig', e, alg: 'RS256', kty: 'RSA' };
  return jsonResponse(
    200,
    { keys: [key] },
    { 'cache-control': 'public, max-age=21600, must-revalidate, no-transform' },
  );
}
