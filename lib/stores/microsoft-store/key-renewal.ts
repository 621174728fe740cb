import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { dayMs } from '../../foundation/time.ts';
import { getAccessToken } from './entra.ts';
import { keyFields, type RefreshToken } from './refresh-token.ts';
import { missingKeyError } from './service-ticket.ts';
import type { MicrosoftSession } from './session.ts';
import { parseStoreIdKey, type StoreIdKey, type StoreService, storeServices } from './store-id-key.ts';
import { callService } from './store-service-api.ts';

/**
 * StoreID keys are valid for 30 days and renewed after 14, like in Microsoft's client library. The age follows from the
 * expiration: the other dates in the published sample of a key contradict each other.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/renew-a-windows-store-id-key
 */
const renewBeforeExpiryMs = 16 * dayMs;

const RenewKeyResponse = v.object({ key: v.pipe(v.string(), v.minLength(1)) });

/**
 * Renews the StoreID keys of a refresh token that are older than 14 days. If the renewal of a valid key fails, the
 * token keeps it. Throws `NeedMoreData` if a key belongs to a different Entra application.
 */
export async function renewKeys(session: MicrosoftSession, token: RefreshToken): Promise<RefreshToken> {
  const renewedFields = await Promise.all(storeServices.map((service) => renewKeyIfOld(session, token, service)));
  return Object.assign({ ...token }, ...renewedFields);
}

async function renewKeyIfOld(
  session: MicrosoftSession,
  token: RefreshToken,
  service: StoreService,
): Promise<Partial<RefreshToken>> {
  const key = token[keyFields[service]];
  if (key === undefined) return {};
  const remainingMs = parseStoredKey(key, service, session).expiresAt - session.now();
  if (remainingMs > renewBeforeExpiryMs || remainingMs <= 0) return {};
  try {
    return { [keyFields[service]]: await renewKey(session, key, service) };
  } catch (error) {
    // The key is still valid: an outage of the renewal must not fail the refresh.
    if (error instanceof ServiceError && error.code !== 'InternalError') return {};
    throw error;
  }
}

/** The operator can have replaced the Entra application since. Only the customer's device creates a key for it. */
function parseStoredKey(key: string, service: StoreService, session: MicrosoftSession): StoreIdKey {
  try {
    return parseStoreIdKey(key, service, session);
  } catch {
    throw missingKeyError(service);
  }
}

async function renewKey(session: MicrosoftSession, key: string, service: StoreService): Promise<string> {
  const serviceTicket = await getAccessToken(session, 'services');
  const body = { serviceTicket, key };
  const result = await callService(session, { service, path: '/v6.0/b2b/keys/renew', body }, RenewKeyResponse);
  if (result.kind !== 'found') return key;
  return parseStoreIdKey(result.value.key, service, session).key;
}
