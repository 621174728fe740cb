import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { type EpochMillis, secondMs } from '../../foundation/time.ts';
import type { MicrosoftSession } from './session.ts';

/** The services of the Microsoft Store. Each requires its own StoreID keys. */
export const storeServices = ['collections', 'purchase'] as const;
export type StoreService = (typeof storeServices)[number];

/** A StoreID key and its claims. Only the store can verify the signature. */
export interface StoreIdKey {
  readonly key: string;
  readonly expiresAt: EpochMillis;
  /** The `publisherUserId` that the client passed when it created the key. */
  readonly userId?: string;
}

/** @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service */
const claimNamespace = 'http://schemas.microsoft.com/marketplace/2015/08/claims/key/';

const Claims = v.looseObject({
  aud: v.string(),
  exp: v.pipe(v.number(), v.finite()),
  [`${claimNamespace}clientId`]: v.string(),
  [`${claimNamespace}userId`]: v.nullish(v.string()),
});

/**
 * Parses a client's StoreID key. Throws `InvalidPayload` if it is malformed, for the other service or from a different
 * publisher. Ignores the claim `refreshUri`: a client could redirect the renewal to another host with it.
 */
export function parseStoreIdKey(key: string, service: StoreService, { settings }: MicrosoftSession): StoreIdKey {
  const claims = v.safeParse(Claims, decodeClaims(key));
  if (!claims.success) throw invalidKeyError(service, 'it is malformed');
  const { aud, exp, [`${claimNamespace}clientId`]: clientId, [`${claimNamespace}userId`]: userId } = claims.output;
  if (aud !== `https://${service}.mp.microsoft.com/v6.0/keys`)
    throw invalidKeyError(service, 'it is for another service');
  if (normalizeClientId(String(clientId)) !== normalizeClientId(settings.clientId))
    throw invalidKeyError(service, 'it belongs to another publisher');
  return { key, expiresAt: exp * secondMs, ...(typeof userId === 'string' && userId !== '' && { userId }) };
}

function decodeClaims(key: string): unknown {
  const [, content = ''] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(key) ?? [];
  const text = Buffer.from(content, 'base64url').toString('utf8');
  const result = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  return result.success ? result.output : undefined;
}

/** Removes the hyphens, which Partner Center displays and the claims lack. */
const normalizeClientId = (clientId: string): string => clientId.replaceAll('-', '').toLowerCase();

const invalidKeyError = (service: StoreService, problem: string): ServiceError =>
  new ServiceError('InvalidPayload', `The StoreID key for ${service} is not valid: ${problem}.`);
