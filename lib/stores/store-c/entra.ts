import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Millis } from '../../purchases/purchase.ts';
import type { StoreAnswer } from '../store.ts';
import { misconfigured, unavailable, understood } from './microsoft-answer.ts';
import type { Session } from './session.ts';

/** What a token of Microsoft Entra is for: calls of the services, or a customer's device that makes a StoreID key. */
const audiences = {
  services: 'https://onestore.microsoft.com',
  collections: 'https://onestore.microsoft.com/b2b/keys/create/collections',
  purchase: 'https://onestore.microsoft.com/b2b/keys/create/purchase',
} as const;
export type Audience = keyof typeof audiences;

/** Entra writes numbers as text in version 1 of its endpoint and as numbers in version 2. */
const Seconds = v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.number(), v.minValue(0));
const Token = v.object({ access_token: v.pipe(v.string(), v.minLength(1)), expires_in: Seconds });
const Problem = v.object({ error: v.string() });

interface CachedToken {
  readonly token: string;
  readonly usableUntil: Millis;
}

/** Tokens of all applications of this container. */
const cache = new Map<string, CachedToken>();
const mostCached = 300;
const renewedBeforeMs = 60_000;

/** The application's token for an audience, from the cache until a minute before it expires. */
export async function accessToken(session: Session, audience: Audience): Promise<string> {
  const key = cacheKey(session, audience);
  const cached = cache.get(key);
  if (cached && cached.usableUntil > session.now()) return cached.token;
  const askedAt = session.now();
  const { access_token: token, expires_in: seconds } = await askEntra(session, audience);
  if (cache.size >= mostCached) cache.clear();
  cache.set(key, { token, usableUntil: askedAt + seconds * 1000 - renewedBeforeMs });
  return token;
}

/** Forgets the token that a service refused, so that the next call gets a new one. */
export const forgetToken = (session: Session, audience: Audience): void => {
  cache.delete(cacheKey(session, audience));
};

async function askEntra({ settings, fetch }: Session, audience: Audience): Promise<v.InferOutput<typeof Token>> {
  const { tenantId, clientId, clientSecret } = settings;
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    resource: audiences[audience],
  };
  const answer = await fetch(`https://login.microsoftonline.com/${tenantId}/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
  });
  if (answer.status === 200) return understood(Token, answer.text);
  throw refusal(answer);
}

function refusal({ status, text }: StoreAnswer) {
  if (status === 429 || status >= 500 || status < 400) return unavailable(`Entra answers HTTP ${status}`);
  const { error } = understood(Problem, text);
  if (error === 'temporarily_unavailable') return unavailable(`Entra answers ${error}`);
  return misconfigured('check tenantId, clientId and clientSecret.', `Entra answers HTTP ${status}, ${error}`);
}

/** A secret that was changed must not live on in the cache, and none is kept in it. */
function cacheKey({ settings }: Session, audience: Audience): string {
  const { tenantId, clientId, clientSecret } = settings;
  return createHash('sha256')
    .update(JSON.stringify([tenantId, clientId, clientSecret, audience]))
    .digest('hex');
}
