import type { APIGatewayProxyEvent } from 'aws-lambda';
import {
  type AcceptedRequest,
  countAcceptedRequest,
  findRequestBlock,
  rejectedReceiptCost,
  requestCost,
} from '../apps/request-limiter.ts';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import type { ApiCall } from './api-call.ts';
import type { Authentication } from './authenticate.ts';
import { toNetwork } from './to-network.ts';

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
  const isDear = contract.area === 'validation' && isRejectedReceipt(result);
  await countAcceptedRequest(service, request, isDear ? rejectedReceiptCost : requestCost);
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
