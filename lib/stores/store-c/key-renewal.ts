import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Asking } from '../store.ts';
import { accessToken } from './entra.ts';
import { RefreshToken } from './refresh-token.ts';
import { askService } from './service-call.ts';
import { type Session, sessionOf } from './session.ts';
import { readKey, type Service } from './store-id-key.ts';

const dayMs = 86_400_000;

/**
 * Keys live 30 days, but Microsoft only promises to renew one that is at most 14 days old. The age follows from the
 * expiration: the other dates in the published sample of a key contradict each other.
 */
const renewedWithinMs = 16 * dayMs;

const Renewed = v.object({ key: v.pipe(v.string(), v.minLength(1)) });

const members = { collections: 'collectionsKey', purchase: 'purchaseKey' } as const;

/**
 * The refresh token with new StoreID keys in place of those older than 14 days; the same token when none is. A key that
 * could not be renewed stays, as long as it lives. For a scheduled job, and before every refresh.
 */
export async function renewedKeys(
  refreshToken: Readonly<Record<string, string>>,
  asking: Asking,
): Promise<RefreshToken> {
  return await renewedIn(sessionOf(asking), parse(RefreshToken, refreshToken));
}

/** The same, as a part of a longer conversation. */
export async function renewedIn(session: Session, token: RefreshToken): Promise<RefreshToken> {
  const renewed = await Promise.all(
    (['collections', 'purchase'] as const).map((service) => renewedKey(session, token, service)),
  );
  return Object.assign({ ...token }, ...renewed);
}

async function renewedKey(session: Session, token: RefreshToken, service: Service): Promise<Partial<RefreshToken>> {
  const old = token[members[service]];
  if (old === undefined) return {};
  const leftMs = readKey(old, service, session).expiresAt - session.now();
  if (leftMs > renewedWithinMs || leftMs <= 0) return {};
  try {
    return { [members[service]]: await renew(session, old, service) };
  } catch (thrown) {
    // The old key works on: what is asked with it must not fail because a service was busy.
    if (thrown instanceof ServiceError && thrown.code !== 'InternalError') return {};
    throw thrown;
  }
}

async function renew(session: Session, key: string, service: Service): Promise<string> {
  const serviceTicket = await accessToken(session, 'services');
  const body = { serviceTicket, key };
  const answer = await askService(session, { service, path: '/v6.0/b2b/keys/renew', body }, Renewed);
  if (answer.kind !== 'found') return key;
  return readKey(answer.value.key, service, session).key;
}
