import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { KeyLevel } from '../api/contract.ts';
import { isValidApiKey } from '../apps/api-keys.ts';
import type { App } from '../apps/app.ts';
import { ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';

export interface Credentials {
  readonly appName: string;
  readonly key: string;
}

/** Basic or Bearer with `base64(app:key)`, or `?appName=…&apiKey=…`; undefined when there is none of them. */
export function extractCredentials(event: APIGatewayProxyEvent): Credentials | undefined {
  const { headers } = event;
  const authorization = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  const encoded = /^(?:basic|bearer)\s+(\S+)$/i.exec(authorization ?? '')?.[1];
  return encoded ? splitCredentials(Buffer.from(encoded, 'base64').toString('utf8')) : extractQueryCredentials(event);
}

/** Those of the query alone: the header of a notification is its store's. */
export const extractQueryCredentials = ({
  queryStringParameters: query,
}: APIGatewayProxyEvent): Credentials | undefined =>
  query?.appName && query.apiKey ? { appName: query.appName, key: query.apiKey } : undefined;

function splitCredentials(pair: string): Credentials | undefined {
  const colon = pair.indexOf(':');
  return colon > 0 ? { appName: pair.slice(0, colon), key: pair.slice(colon + 1) } : undefined;
}

/**
 * The application whose key was given, when that key opens `level`. An unknown application costs the same work and gets
 * the same answer as a wrong key. Throws `Forbidden` (401 without usable credentials) or, with the right key of a
 * deleted application, `AppNotFound`.
 */
export async function authenticate(
  credentials: Credentials | undefined,
  level: Exclude<KeyLevel, 'none'>,
  { findApp, now }: { findApp: (name: string) => Promise<App | undefined>; now: EpochMillis },
): Promise<App> {
  if (!credentials)
    throw new ServiceError('Forbidden', 'Credentials are missing: send the app name and a key.', { status: 401 });
  const app = await findApp(credentials.appName);
  const isSecret = isValidApiKey(credentials.key, app?.secretKeys ?? [], now);
  const isPublic = isValidApiKey(credentials.key, app?.publicKeys ?? [], now);
  if (!app || !(isSecret || isPublic))
    throw new ServiceError('Forbidden', 'The app name and the key do not match.', { status: 401 });
  if (app.deletedAt !== undefined) throw new ServiceError('AppNotFound', 'This application was deleted.');
  if (level === 'secret' && !isSecret) throw new ServiceError('Forbidden', 'This needs the secret key.');
  return app;
}
