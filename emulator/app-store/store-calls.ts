import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { type DeveloperApiContext, handleServerApiCall, isHistoryQuery } from './server-api.ts';
import { handleVerifyReceipt } from './verify-receipt.ts';

const rateLimitMs = 30_000;

/** The APIs, and whether a call by POST only reads. */
const serverApi = { handle: handleServerApiCall, isQuery: isHistoryQuery };
const verifyReceipt = { handle: handleVerifyReceipt, isQuery: () => true };

const hosts = {
  'api.storekit.apple.com': { environment: 'Production', ...serverApi },
  'api.storekit-sandbox.apple.com': { environment: 'Sandbox', ...serverApi },
  'buy.itunes.apple.com': { environment: 'Production', ...verifyReceipt },
  'sandbox.itunes.apple.com': { environment: 'Sandbox', ...verifyReceipt },
} as const;

/** Host names of the store. */
export const hostNames = Object.keys(hosts) as readonly (keyof typeof hosts)[];

/** Handles a call to a host of the store. */
export function handleCall(context: DeveloperApiContext, call: StoreHttpRequest): HttpResponse {
  const api = findApi(call);
  return api ? api.handle(context, call, api.environment) : textResponse(404, 'Not Found\n');
}

/** Returns whether a call by POST only reads. */
export const isQuery = (call: StoreHttpRequest): boolean => findApi(call)?.isQuery(call) === true;

function findApi(call: StoreHttpRequest) {
  const name = hostNames.find((host) => host === call.host);
  return name && hosts[name];
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
