import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { type DeveloperApiContext, handleServerApiCall } from './server-api.ts';
import { handleVerifyReceipt } from './verify-receipt.ts';

const rateLimitMs = 30_000;

const hosts = {
  'api.storekit.apple.com': { environment: 'Production', answer: handleServerApiCall },
  'api.storekit-sandbox.apple.com': { environment: 'Sandbox', answer: handleServerApiCall },
  'buy.itunes.apple.com': { environment: 'Production', answer: handleVerifyReceipt },
  'sandbox.itunes.apple.com': { environment: 'Sandbox', answer: handleVerifyReceipt },
} as const;

/** The host names of the store. */
export const hostNames = Object.keys(hosts) as readonly (keyof typeof hosts)[];

/** Answers whatever is asked of one of the store's hosts. */
export function handleCall(context: DeveloperApiContext, call: StoreHttpRequest): HttpResponse {
  const name = hostNames.find((host) => host === call.host);
  if (name === undefined) return textResponse(404, 'Not Found\n');
  const { environment, answer: response } = hosts[name];
  return response(context, call, environment);
}

/** The answer during an outage. */
export const unavailableResponse = (): HttpResponse => textResponse(503, 'Service Unavailable\n');

/** The answer beyond the rate limit; Retry-After is the moment to come back, in epoch milliseconds. */
export const rateLimitedResponse = (now: number): HttpResponse =>
  jsonResponse(
    429,
    { errorCode: 4290000, errorMessage: 'Rate limit exceeded.' },
    { 'retry-after': String(now + rateLimitMs) },
  );
