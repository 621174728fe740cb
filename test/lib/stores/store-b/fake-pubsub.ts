import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { dayMs } from '../../../../lib/shared/time.ts';
import { receive } from '../../../../lib/stores/store-b/receive.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';

export const packageName = 'com.example.app';
export const audience = 'https://purchases.example.com/v3/webhook/store_b/app';
export const account = 'pubsub-push@example.iam.gserviceaccount.com';

export type SigningKey = Awaited<ReturnType<typeof signingKey>>;

/** A key of Google's, or of anybody else's, under an id of its own. */
export async function signingKey(kid: string = randomUUID()) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' } };
}

/** The push of a real-time developer notification in the form of Pub/Sub. */
export function pushBody(content: object = { testNotification: { version: '1.0' } }, messageId = 'message-1'): string {
  const notification = { version: '1.0', packageName, eventTimeMillis: '1795262400000', ...content };
  return envelope(Buffer.from(JSON.stringify(notification)).toString('base64'), messageId);
}

/** The same around any data. */
export const envelope = (data: string, messageId = 'message-1'): string =>
  JSON.stringify({ message: { data, messageId, publishTime: '2026-11-21T12:00:00Z' }, subscription: 'projects/p' });

export const pushSettings = { packageName, pushAudience: audience, pushServiceAccount: account };

let days = 0;

/** A Google that pushes. Each is a day later than the one before it, so that none finds the keys that another left. */
export function pushingGoogle(...keys: readonly SigningKey[]) {
  const google = {
    keys,
    now: Date.parse('2026-11-21T12:00:00Z') + dayMs * ++days,
    /** How often its keys were read. */
    reads: 0,
    isReachable: true,
    /** What it answers instead of its keys. */
    answer: {},
  };
  const fetch: StoreContext['fetch'] = async () => {
    google.reads += 1;
    if (!google.isReachable) throw new ServiceError('ConnectionFailed', 'The store does not answer.');
    const text = JSON.stringify({ keys: google.keys.map(({ jwk }) => jwk) });
    const headers = new Headers({ 'cache-control': 'public, max-age=20000, must-revalidate' });
    return { status: 200, text, headers, ...google.answer };
  };
  const seconds = () => Math.floor(google.now / 1000);
  /** A token of the account for the audience, but for the changes; a claim that is undefined is left out. */
  const token = async (key: SigningKey, claims: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const usual = { iss: 'https://accounts.google.com', aud: audience, email: account, email_verified: true };
    return await new SignJWT({ ...usual, iat: seconds(), exp: seconds() + 3600, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: 'JWT' })
      .sign(key.privateKey);
  };
  const push = async (bearer?: string, { body = pushBody(), settings = pushSettings }: Pushed = {}) => {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    const context = { appName: 'app', settings, now: () => google.now, extraRoots: [], fetch, runOnce: once };
    return (await receive({ method: 'POST', body, headers, query: {} }, context)).notifications;
  };
  return { google, seconds, token, push };
}

interface Pushed {
  readonly body?: string;
  readonly settings?: object | null;
}

const once: StoreContext['runOnce'] = async (_key, run) => await run();
