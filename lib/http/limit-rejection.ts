import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { hashApiKey } from '../apps/api-keys.ts';
import { AppName } from '../apps/app.ts';
import { countRejection, type Rejection } from '../apps/rejection-limiter.ts';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import { extractCredentials } from './authenticate.ts';
import { toNetwork } from './to-network.ts';

/**
 * Counts a request whose credentials were rejected. Returns the error of its response: `Forbidden` (429) with the time
 * of the next attempt if the address, the key or the app is blocked, else the same error. Other errors are not counted.
 */
export async function limitRejection(
  service: Service,
  error: unknown,
  lambdaEvent: APIGatewayProxyEvent,
): Promise<unknown> {
  if (!isRejection(error)) return error;
  const blockedUntil = await countRejection(service, await describeRejection(lambdaEvent));
  if (blockedUntil === undefined) return error;
  // Spec: not shown. The code of the 401, because released clients do not handle 429.
  return new ServiceError('Forbidden', 'Too many requests with invalid credentials. Try again later.', {
    status: 429,
    retryAfterSeconds: Math.max(1, Math.ceil((blockedUntil - service.now()) / secondMs)),
  });
}

/** The credentials are missing, wrong or insufficient, or belong to a deleted app. */
const isRejection = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'Forbidden' || error.code === 'AppNotFound');

async function describeRejection(lambdaEvent: APIGatewayProxyEvent): Promise<Rejection> {
  const credentials = extractCredentials(lambdaEvent);
  const isAppName = v.is(AppName, credentials?.appName);
  return omitUndefined({
    address: await toNetwork(lambdaEvent.requestContext.identity.sourceIp),
    appName: isAppName ? credentials?.appName : undefined,
    keyDigest: isAppName && credentials ? hashApiKey(credentials.key) : undefined,
  });
}
