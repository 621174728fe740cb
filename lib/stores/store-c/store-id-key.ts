import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { MicrosoftSession } from './session.ts';

/** The two services, each of which takes keys of its own. */
export type StoreService = 'collections' | 'purchase';

/** A StoreID key, with what its claims say; only the store can tell whether they are true. */
export interface StoreIdKey {
  readonly key: string;
  readonly expiresAt: EpochMillis;
  /** The user's name for the publisher, given when the key was made. */
  readonly userId?: string;
}

const claimNamespace = 'http://schemas.microsoft.com/marketplace/2015/08/claims/key/';

const Claims = v.looseObject({
  aud: v.string(),
  exp: v.pipe(v.number(), v.finite()),
  [`${claimNamespace}clientId`]: v.string(),
  [`${claimNamespace}userId`]: v.nullish(v.string()),
});

/**
 * Reads a key that a client sent. Throws `InvalidPayload` for what is no key of this service, or is one that was made for
 * another publisher. The claim `refreshUri` is never followed: a client could have written any address into it.
 */
export function parseStoreIdKey(key: string, service: StoreService, { settings }: MicrosoftSession): StoreIdKey {
  const claims = v.safeParse(Claims, decodeClaims(key));
  if (!claims.success) throw invalidKeyError(service, 'it is no StoreID key');
  const { aud, exp, [`${claimNamespace}clientId`]: clientId, [`${claimNamespace}userId`]: userId } = claims.output;
  if (aud !== `https://${service}.mp.microsoft.com/v6.0/keys`)
    throw invalidKeyError(service, 'it is for another service');
  if (normalizeClientId(String(clientId)) !== normalizeClientId(settings.clientId))
    throw invalidKeyError(service, 'it was made for another publisher');
  return { key, expiresAt: exp * 1000, ...(typeof userId === 'string' && userId !== '' && { userId }) };
}

function decodeClaims(key: string): unknown {
  const [, content = ''] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(key) ?? [];
  const text = Buffer.from(content, 'base64url').toString('utf8');
  const result = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  return result.success ? result.output : undefined;
}

/** Claims write the id without the hyphens that Partner Center shows. */
const normalizeClientId = (clientId: string): string => clientId.replaceAll('-', '').toLowerCase();

const invalidKeyError = (service: StoreService, why: string): ServiceError =>
  new ServiceError('InvalidPayload', `The StoreID key for ${service} is not usable: ${why}.`);
