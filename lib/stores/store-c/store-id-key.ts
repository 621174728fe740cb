import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Session } from './session.ts';

/** The two services, each of which takes keys of its own. */
export type Service = 'collections' | 'purchase';

/** A StoreID key, with what its claims say; only the store can tell whether they are true. */
export interface StoreIdKey {
  readonly key: string;
  readonly expiresAt: Millis;
  /** The user's name for the publisher, given when the key was made. */
  readonly userId?: string;
}

const prefix = 'http://schemas.microsoft.com/marketplace/2015/08/claims/key/';

const Claims = v.looseObject({
  aud: v.string(),
  exp: v.pipe(v.number(), v.finite()),
  [`${prefix}clientId`]: v.string(),
  [`${prefix}userId`]: v.nullish(v.string()),
});

/**
 * Reads a key that a client sent. Throws `InvalidPayload` for what is no key of this service, or is one that was made for
 * another publisher. The claim `refreshUri` is never followed: a client could have written any address into it.
 */
export function readKey(key: string, service: Service, { settings }: Session): StoreIdKey {
  const claims = v.safeParse(Claims, contentOf(key));
  if (!claims.success) throw invalid(service, 'it is no StoreID key');
  const { aud, exp, [`${prefix}clientId`]: clientId, [`${prefix}userId`]: userId } = claims.output;
  if (aud !== `https://${service}.mp.microsoft.com/v6.0/keys`) throw invalid(service, 'it is for another service');
  if (plain(String(clientId)) !== plain(settings.clientId)) throw invalid(service, 'it was made for another publisher');
  return { key, expiresAt: exp * 1000, ...(typeof userId === 'string' && userId !== '' && { userId }) };
}

function contentOf(key: string): unknown {
  const [, content = ''] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(key) ?? [];
  const text = Buffer.from(content, 'base64url').toString('utf8');
  const result = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  return result.success ? result.output : undefined;
}

/** Claims write the id without the hyphens that Partner Center shows. */
const plain = (clientId: string): string => clientId.replaceAll('-', '').toLowerCase();

const invalid = (service: Service, why: string): ServiceError =>
  new ServiceError('InvalidPayload', `The StoreID key for ${service} is not usable: ${why}.`);
