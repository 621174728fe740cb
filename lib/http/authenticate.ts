import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Contract } from '../api/contract.ts';
import { findApiKey, type VerifiedKey } from '../apps/api-keys.ts';
import type { App } from '../apps/app.ts';
import type { AppCache } from '../apps/app-cache.ts';
import { ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';

export interface Credentials {
  readonly appName: string;
  readonly key: string;
}

/** Reads an HTTP header; names are case-insensitive. */
export const getHeader = ({ headers }: Pick<APIGatewayProxyEvent, 'headers'>, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([header]) => header.toLowerCase() === name)?.[1];

/** Reads `base64(appName:key)` from a Basic or Bearer header, or `?appName=…&apiKey=…` from the query string. */
export function extractCredentials(lambdaEvent: APIGatewayProxyEvent): Credentials | undefined {
  const encoded = /^(?:basic|bearer)\s+(\S+)$/i.exec(getHeader(lambdaEvent, 'authorization') ?? '')?.[1];
  return encoded
    ? splitCredentials(Buffer.from(encoded, 'base64').toString('utf8'))
    : extractQueryCredentials(lambdaEvent);
}

/** Reads credentials from the query string only: the store uses the Authorization header for its own token. */
export const extractQueryCredentials = ({
  queryStringParameters: query,
}: APIGatewayProxyEvent): Credentials | undefined =>
  query?.appName && query.apiKey ? { appName: query.appName, key: query.apiKey } : undefined;

function splitCredentials(pair: string): Credentials | undefined {
  const colon = pair.indexOf(':');
  return colon > 0 ? { appName: pair.slice(0, colon), key: pair.slice(colon + 1) } : undefined;
}

/** An app and the key that its request has. */
export interface Authentication {
  readonly app: App;
  readonly key: VerifiedKey;
}

/**
 * Returns the app if its key grants a call of the contract. Throws `Forbidden` (401 for missing or wrong credentials), or
 * `AppNotFound` for the correct key of a deleted app. An unknown app takes the same time and gets the same error as a wrong key.
 */
export async function authenticate(
  credentials: Credentials | undefined,
  contract: Pick<Contract, 'keyLevel' | 'method'>,
  { appCache, now }: { readonly appCache: Pick<AppCache, 'find' | 'findRecent'>; readonly now: EpochMillis },
): Promise<Authentication> {
  if (!credentials)
    throw new ServiceError('Forbidden', 'Credentials are missing: send the app name and a key.', { status: 401 });
  const { appName, key: value } = credentials;
  let app = await appCache.find(appName);
  let key = findApiKey(value, app, now);
  if (!key) {
    app = await appCache.findRecent(appName);
    key = findApiKey(value, app, now);
  }
  if (!app || !key) throw new ServiceError('Forbidden', 'The app name and the key do not match.', { status: 401 });
  if (app.deletedAt !== undefined) throw new ServiceError('AppNotFound', 'The app is deleted.');
  const problem = findMissingPermission(key, contract);
  if (problem !== undefined) throw new ServiceError('Forbidden', problem);
  return { app, key };
}

function findMissingPermission(
  { level }: VerifiedKey,
  { keyLevel, method }: Pick<Contract, 'keyLevel' | 'method'>,
): string | undefined {
  if (level === 'viewer' && method !== 'GET') return 'A viewer key can only read. The secret key is required.';
  return level === 'public' && keyLevel === 'secret' ? 'The secret key is required.' : undefined;
}
