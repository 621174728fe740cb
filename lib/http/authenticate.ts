import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Contract, isForSecretKeyOnly } from '../api/contract.ts';
import { type App, apiKeyPattern, findApiKey, hashApiKey, type VerifiedKey } from '../apps/app.ts';
import { findCachedApp, findCachedKeyOwner, findRecentApp } from '../apps/app-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { Service } from '../foundation/service.ts';
import { getHeader } from './request.ts';

export interface Credentials {
  /** Undefined if the request has the key alone. */
  readonly appName?: string;
  readonly key: string;
}

/**
 * Reads `base64(appName:key)` from a Basic or Bearer header, or `?appName=…&apiKey=…` from the query string. A Bearer
 * header can also have the key alone.
 */
export function extractCredentials(lambdaEvent: APIGatewayProxyEvent): Credentials | undefined {
  const header = getHeader(lambdaEvent, 'authorization') ?? '';
  const [, scheme = '', encoded] = /^(basic|bearer)\s+(\S+)$/i.exec(header) ?? [];
  if (encoded === undefined) return extractQueryCredentials(lambdaEvent);
  if (apiKeyPattern.test(encoded)) return { key: encoded };
  const pair = splitCredentials(Buffer.from(encoded, 'base64').toString('utf8'));
  // A malformed key is wrong, not missing.
  return pair ?? (scheme.toLowerCase() === 'bearer' ? { key: encoded } : undefined);
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

/** An app and the verified key of its request. */
export interface Authentication {
  readonly app: App;
  readonly key: VerifiedKey;
}

/**
 * Verifies the credentials of a request. Throws `Forbidden` (401) if they are missing or the key is wrong, and
 * `AppNotFound` for an unknown app (401) or the correct key of a deleted app. An unknown app takes the time of a wrong
 * key.
 */
export async function authenticate(
  service: Service,
  credentials: Credentials | undefined,
  { acceptsBareKey }: Pick<Contract, 'acceptsBareKey'> = {},
): Promise<Authentication> {
  if (!credentials || (credentials.appName === undefined && !acceptsBareKey))
    throw new ServiceError('Forbidden', 'Credentials are missing: send the app name and a key.', { status: 401 });
  const { key: value } = credentials;
  const appName = credentials.appName ?? (await findCachedKeyOwner(service, hashApiKey(value)));
  if (appName === undefined) throw new ServiceError('Forbidden', 'The key does not match.', { status: 401 });
  let app = await findCachedApp(service, appName);
  let key = findApiKey(value, app, service.now());
  if (!key) {
    app = await findRecentApp(service, appName);
    key = findApiKey(value, app, service.now());
  }
  if (!app) throw new ServiceError('AppNotFound', 'No app has this name.', { status: 401 });
  if (!key) throw new ServiceError('Forbidden', 'The app name and the key do not match.', { status: 401 });
  if (app.deletedAt !== undefined) throw new ServiceError('AppNotFound', 'The app is deleted.');
  return { app, key };
}

/** What the required level of a key depends on. */
type AccessRule = Pick<Contract, 'keyLevel' | 'method' | 'permissions' | 'writingParameter' | 'additionalLevels'>;

/** Checks that a verified key allows the request. Throws `Forbidden` if its level does not. */
export function requireLevel(
  { level }: VerifiedKey,
  contract: AccessRule,
  query: APIGatewayProxyEvent['queryStringParameters'] = null,
): void {
  const { keyLevel, additionalLevels = [] } = contract;
  const isReader = level === 'viewer' || level === 'support';
  if (isReader && !additionalLevels.includes(level)) {
    if (changesData(contract, query)) throw new ServiceError('Forbidden', describeRefusal(level, keyLevel));
    if (isForSecretKeyOnly(contract)) throw new ServiceError('Forbidden', 'The secret key is required.');
  }
  if (level === 'public' && keyLevel === 'secret') throw new ServiceError('Forbidden', 'The secret key is required.');
}

const describeRefusal = (level: 'viewer' | 'support', keyLevel: Contract['keyLevel']): string =>
  level === 'viewer'
    ? `A viewer key can only read. The ${keyLevel} key is required.`
    : `A support key reads, grants, links, refreshes and replays. The ${keyLevel} key is required.`;

/** A GET request of a contract with the permission to write changes data, unless the contract states when. */
function changesData(
  { method, permissions, writingParameter }: AccessRule,
  query: APIGatewayProxyEvent['queryStringParameters'],
): boolean {
  if (method !== 'GET') return true;
  if (!permissions.includes('write')) return false;
  return writingParameter === undefined || query?.[writingParameter] !== undefined;
}
