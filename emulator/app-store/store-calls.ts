import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { type DeveloperApiContext, handleServerApiCall } from './server-api.ts';
import { handleVerifyReceipt } from './verify-receipt.ts';

const rateLimitMs = 30_000;

const hosts = {
  'api.storekit.apple.com': { environment: 'Production', handle: handleServerApiCall },
  'api.storekit-sandbox.apple.com': { environment: 'Sandbox', handle: handleServerApiCall },
  'buy.itunes.apple.com': { environment: 'Production', handle: handleVerifyReceipt },
  'sandbox.itunes.apple.com': { environment: 'Sandbox', handle: handleVerifyReceipt },
} as const;

/** Host names of the store. */
export const hostNames = Object.keys(hosts) as readonly (keyof typeof hosts)[];

/** Handles a call to a host of the store. */
export function handleCall(context: DeveloperApiContext, call: StoreHttpRequest): HttpResponse {
  const name = hostNames.find((host) => host === call.host);
  if (name === undefined) return textResponse(404, 'Not Found\n');
  const { environment, handle } = hosts[name];
  return handle(context, call, environment);
}

/** Creates the response of an outage. */
export const unavailableResponse = (): HttpResponse => textResponse(503, 'Service Unavailable\n');

/**
 * Creates the response of an exceeded rate limit. `Retry-After` is a time in epoch milliseconds.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
 */
export const rateLimitedResponse = (now: number): HttpResponse =>
  jsonResponse(
    429,
    { errorCode: 4290000, errorMessage: 'Rate limit exceeded.' },
    { 'retry-after': String(now + rateLimitMs) },
  );
