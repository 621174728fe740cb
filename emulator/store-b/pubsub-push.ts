import { createPublicKey, randomInt, sign } from 'node:crypto';
import type { StoreNotification } from '../emulated-store.ts';
import { type HttpResponse, jsonResponse } from '../http-messages.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { type Keys, pushAudience, pushServiceAccount } from './keys.ts';

const ackStatuses: readonly number[] = [102, 200, 201, 202, 204];
const retainedMs = 7 * 86_400_000;
const lifeSeconds = 3600;
const accountId = '108273645102938475610';

/** How Pub/Sub pushes a real-time developer notification: wrapped, and with a token of the push service account. */
export function toOutgoingNotification(keys: Keys, { at, native }: StoreNotification): OutgoingNotification {
  const messageId = String(randomInt(10 ** 14, 2 ** 47 - 1));
  const publishTime = new Date(at).toISOString();
  const data = Buffer.from(JSON.stringify(native)).toString('base64');
  const message = { data, messageId, message_id: messageId, publishTime, publish_time: publishTime };
  return {
    body: JSON.stringify({ message, subscription: 'projects/example-app/subscriptions/play-notifications' }),
    buildHeaders: (sentAt) => ({
      'content-type': 'application/json',
      'user-agent': 'CloudPubSub-Google',
      authorization: `Bearer ${identityToken(keys, Math.floor(sentAt / 1000))}`,
    }),
    retryDelaysMs,
    isDelivered: (status) => ackStatuses.includes(status),
  };
}

/** Twice as long each time, from ten seconds to ten minutes, until the message is thrown away. */
const retryDelaysMs = delaysUntil(retainedMs);

function delaysUntil(endMs: number): readonly number[] {
  const delays: number[] = [];
  for (let delay = 10_000, total = delay; total <= endMs; total += delay) {
    delays.push(delay);
    delay = Math.min(delay * 2, 600_000);
  }
  return delays;
}

function identityToken(keys: Keys, iat: number): string {
  const header = { alg: 'RS256', kid: keys.pushKeyId, typ: 'JWT' };
  const claims = {
    aud: pushAudience,
    azp: accountId,
    email: pushServiceAccount,
    email_verified: true,
    exp: iat + lifeSeconds,
    iat,
    iss: 'https://accounts.google.com',
    sub: accountId,
  };
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), keys.pushPrivateKey).toString('base64url')}`;
}

/** `GET /oauth2/v3/certs`: the key that vouches for the tokens of service accounts. */
export function handleCertsRequest({ pushKeyId, pushPrivateKey }: Keys): HttpResponse {
  const { n, e } = createPublicKey(pushPrivateKey).export({ format: 'jwk' });
  const key = { kid: pushKeyId, n, use: 'sig', e, alg: 'RS256', kty: 'RSA' };
  return jsonResponse(
    200,
    { keys: [key] },
    { 'cache-control': 'public, max-age=21600, must-revalidate, no-transform' },
  );
}
