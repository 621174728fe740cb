import { randomUUID } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { receive } from '../../../../lib/stores/google-play/receive.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { createRsaKeyPair } from '../../../../testing/run-keys.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

export const packageName = 'com.example.app';
export const audience = 'https://purchases.example.com/v3/webhook/store_b/app';
export const account = 'pubsub-push@example.iam.gserviceaccount.com';

export type SigningKey = Awaited<ReturnType<typeof createSigningKey>>;

export async function createSigningKey(kid: string = randomUUID()) {
  const { privateKey, publicKey } = createRsaKeyPair();
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' } };
}

/** Builds the body of a push with a real-time developer notification. */
export function buildPushBody(
  content: object = { testNotification: { version: '1.0' } },
  messageId = 'message-1',
): string {
  const notification = { version: '1.0', packageName, eventTimeMillis: '1795262400000', ...content };
  return buildEnvelope(Buffer.from(JSON.stringify(notification)).toString('base64'), messageId);
}

/** Builds the body of a push with any data. */
export const buildEnvelope = (data: string, messageId = 'message-1'): string =>
  JSON.stringify({ message: { data, messageId, publishTime: '2026-11-21T12:00:00Z' }, subscription: 'projects/p' });

export const pushSettings = { packageName, pushAudience: audience, pushServiceAccount: account };

let dayCount = 0;

/** Creates Google's keys and Pub/Sub. Each starts a day after the previous one, so that no cached keys remain valid. */
export function createPubSub(...keys: readonly SigningKey[]) {
  const google = {
    keys,
    now: Date.parse('2026-11-21T12:00:00Z') + dayMs * ++dayCount,
    /** Number of requests for the keys. */
    reads: 0,
    isReachable: true,
    /** Changes of the response with the keys. */
    responseChanges: {},
  };
  const fetch: StoreContext['fetch'] = async () => {
    google.reads += 1;
    if (!google.isReachable) throw new ServiceError('ConnectionFailed', 'The store is unavailable. Try again later.');
    const text = JSON.stringify({ keys: google.keys.map(({ jwk }) => jwk) });
    const headers = { 'cache-control': 'public, max-age=20000, must-revalidate' };
    return { status: 200, text, headers, ...google.responseChanges };
  };
  const getSeconds = () => Math.floor(google.now / 1000);
  /** Signs a token with valid claims and these changes. An undefined claim is omitted. */
  const signToken = async (key: SigningKey, claims: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const validClaims = { iss: 'https://accounts.google.com', aud: audience, email: account, email_verified: true };
    return await new SignJWT({ ...validClaims, iat: getSeconds(), exp: getSeconds() + 3600, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: 'JWT' })
      .sign(key.privateKey);
  };
  const push = async (bearer?: string, { body = buildPushBody(), settings = pushSettings }: PushOptions = {}) => {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    const context = {
      appName: 'app',
      settings,
      now: () => google.now,
      stopwatch: stoppedStopwatch,
      extraRoots: [],
      fetch,
      runOnce,
    };
    return (await receive({ method: 'POST', body, headers, query: {} }, context)).notifications;
  };
  return { google, getSeconds, signToken, push };
}

interface PushOptions {
  readonly body?: string;
  readonly settings?: object | null;
}

const runOnce: StoreContext['runOnce'] = async (_key, run) => await run();
