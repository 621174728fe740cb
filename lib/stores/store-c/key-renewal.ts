import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import { dayMs } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import { getAccessToken } from './entra.ts';
import { RefreshToken } from './refresh-token.ts';
import { createSession, type MicrosoftSession } from './session.ts';
import { parseStoreIdKey, type StoreService } from './store-id-key.ts';
import { callService } from './store-service-api.ts';

/**
 * Keys live 30 days, but Microsoft only promises to renew one that is at most 14 days old. The age follows from the
 * expiration: the other dates in the published sample of a key contradict each other.
 */
const renewBeforeExpiryMs = 16 * dayMs;

const RenewKeyResponse = v.object({ key: v.pipe(v.string(), v.minLength(1)) });

const keyFields = { collections: 'collectionsKey', purchase: 'purchaseKey' } as const;

/**
 * The refresh token with new StoreID keys in place of those older than 14 days; the same token when none is. A key that
 * could not be renewed stays, as long as it lives. For a scheduled job, and before every refresh.
 */
export async function renewKeys(
  refreshToken: Readonly<Record<string, string>>,
  context: StoreContext,
): Promise<RefreshToken> {
  return await renewKeysInSession(createSession(context), parse(RefreshToken, refreshToken));
}

/** The same, as a part of a longer conversation. */
export async function renewKeysInSession(session: MicrosoftSession, token: RefreshToken): Promise<RefreshToken> {
  const renewed = await Promise.all(
    (['collections', 'purchase'] as const).map((service) => renewKeyIfOld(session, token, service)),
  );
  return Object.assign({ ...token }, ...renewed);
}

async function renewKeyIfOld(
  session: MicrosoftSession,
  token: RefreshToken,
  service: StoreService,
): Promise<Partial<RefreshToken>> {
  const old = token[keyFields[service]];
  if (old === undefined) return {};
  const leftMs = parseStoreIdKey(old, service, session).expiresAt - session.now();
  if (leftMs > renewBeforeExpiryMs || leftMs <= 0) return {};
  try {
    return { [keyFields[service]]: await renew(session, old, service) };
  } catch (error) {
    // The old key works on: what is asked with it must not fail because a service was busy.
    if (error instanceof ServiceError && error.code !== 'InternalError') return {};
    throw error;
  }
}

async function renew(session: MicrosoftSession, key: string, service: StoreService): Promise<string> {
  const serviceTicket = await getAccessToken(session, 'services');
  const body = { serviceTicket, key };
  const response = await callService(session, { service, path: '/v6.0/b2b/keys/renew', body }, RenewKeyResponse);
  if (response.kind !== 'found') return key;
  return parseStoreIdKey(response.value.key, service, session).key;
}
