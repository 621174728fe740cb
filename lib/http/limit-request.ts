import { isIP } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { AppName, hashApiKey } from '../apps/app.ts';
import {
  type AcceptedRequest,
  countAcceptedRequest,
  countRejection,
  findRequestBlock,
  type Rejection,
  rejectedReceiptCost,
  requestCost,
} from '../apps/request-limiter.ts';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import type { ApiCall } from './api-call.ts';
import { type Authentication, extractCredentials } from './authenticate.ts';

/**
 * Throws `ConnectionFailed` (429) with the time of the next attempt if the app, the key or the address has sent too
 * many requests. Released clients retry a validation with this code later.
 */
export async function requireAllowance(
  service: Service,
  authentication: Authentication,
  lambdaEvent: APIGatewayProxyEvent,
): Promise<void> {
  const blockedUntil = findRequestBlock(service, await describeRequest(service, authentication, lambdaEvent));
  if (blockedUntil === undefined) return;
  throw new ServiceError('ConnectionFailed', 'Too many requests. Try again later.', {
    status: 429,
    retryable: false,
    retryAfterSeconds: Math.max(1, Math.ceil((blockedUntil - service.now()) / secondMs)),
  });
}

/** Result of a request: the error, or the body of its response. */
interface RequestResult {
  readonly error?: unknown;
  readonly body?: object;
}

/** Counts a request that was not blocked. */
export async function countRequest(
  service: Service,
  { contract, app, key, lambdaEvent }: ApiCall,
  result: RequestResult,
): Promise<void> {
  if (!app || !key) return;
  const request = await describeRequest(service, { app, key }, lambdaEvent);
  const isExpensive = contract.area === 'validation' && isRejectedReceipt(result);
  await countAcceptedRequest(service, request, isExpensive ? rejectedReceiptCost : requestCost);
}

/** Responses to OpenIAP clients report a rejected receipt as a state. */
const isRejectedReceipt = ({ error, body = {} }: RequestResult): boolean =>
  (error instanceof ServiceError && error.code === 'InvalidPayload') ||
  ('state' in body && body.state === 'INAUTHENTIC');

async function describeRequest(
  { requestsPerKey }: Service,
  { app, key }: Authentication,
  { requestContext }: APIGatewayProxyEvent,
): Promise<AcceptedRequest> {
  return {
    appName: app.name,
    keyId: key.id,
    requestsPerSecond: app.requestsPerSecond ?? requestsPerKey,
    // All requests of a server come from one address.
    ...(key.level === 'public' && omitUndefined({ address: await toNetwork(requestContext.identity.sourceIp) })),
  };
}

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

/**
 * Returns an IPv4 address unchanged, and the /64 network of an IPv6 address, because one client has all of its
 * addresses. `sourceIp` is the address of the TCP connection, and clients can forge `X-Forwarded-For`.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
async function toNetwork(sourceIp: string): Promise<string | undefined> {
  if (isIP(sourceIp) !== 6) return isIP(sourceIp) === 4 ? sourceIp : undefined;
  const { default: ipaddr } = await import('ipaddr.js');
  const address = ipaddr.process(sourceIp);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}
