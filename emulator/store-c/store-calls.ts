import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { handleQueueCall, handleSasTokenRequest, queueHost } from './clawback-queue.ts';
import { queryCollectionV6, queryCollectionV8, queryCollectionV9 } from './collections.ts';
import { consumeV6, consumeV8 } from './consume.ts';
import { createKey, renewKey } from './create-store-id-key.ts';
import { handleTokenRequest } from './entra.ts';
import { queryOrders } from './query-orders.ts';
import { changeRecurrence, queryRecurrences } from './recurrences.ts';
import type { ResponseContext } from './response-context.ts';
import { toErrorResponse } from './service-error.ts';

type Respond = (context: ResponseContext, call: StoreHttpRequest) => HttpResponse;

/** What each service answers to POST, by the path in lower case; the services do not tell cases apart. */
const services: Readonly<Record<string, Readonly<Record<string, Respond>>>> = {
  'collections.mp.microsoft.com': {
    '/v6.0/collections/query': queryCollectionV6,
    '/v8.0/collections/b2blicensepreview': queryCollectionV8,
    '/v9.0/collections/publisherquery': queryCollectionV9,
    '/v6.0/collections/consume': consumeV6,
    '/v8.0/collections/consume': consumeV8,
    '/v6.0/b2b/keys/renew': (context, call) => renewKey(context, call, 'collections'),
  },
  'purchase.mp.microsoft.com': {
    '/v8.0/b2b/recurrences/query': queryRecurrences,
    '/v8.0/b2b/orders/query': queryOrders,
    '/v6.0/b2b/keys/renew': (context, call) => renewKey(context, call, 'purchase'),
  },
  // Not an API for services: here the emulator plays the customer's device, at the address that a ticket is for.
  'onestore.microsoft.com': {
    '/b2b/keys/create/collections': createKey,
    '/b2b/keys/create/purchase': createKey,
  },
};

const tokenPath = '/v8.0/b2b/clawback/sastoken';
const entra = 'login.microsoftonline.com';
const change = /^\/v8\.0\/b2b\/recurrences\/([^/]+)\/change$/i;

/** The host names of the store. */
export const hostNames = [entra, queueHost, ...Object.keys(services)];

/** Answers whatever is asked of one of the store's hosts. */
export function handleCall(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  if (call.host === entra) return handleTokenRequest(context, call);
  if (call.host === queueHost) return handleQueueCall(context, call);
  const respond = responder(call);
  if (respond === undefined) return textResponse(404, 'Not Found');
  try {
    return respond(context, call);
  } catch (error) {
    return toErrorResponse(error);
  }
}

function responder({ host, path, method }: StoreHttpRequest): Respond | undefined {
  if (method === 'GET') {
    return host === 'purchase.mp.microsoft.com' && path.toLowerCase() === tokenPath ? handleSasTokenRequest : undefined;
  }
  if (method !== 'POST') return undefined;
  const [, id] = (host === 'purchase.mp.microsoft.com' && change.exec(path)) || [];
  if (id !== undefined) return (context, call) => changeRecurrence(context, call, decodeURIComponent(id));
  return services[host]?.[path.toLowerCase()];
}

/** The answer during an outage. */
export const unavailableResponse = (): HttpResponse =>
  jsonResponse(503, { code: 'ServiceUnavailable', data: [], details: [], message: 'The service is unavailable.' });

/** The answer beyond the rate limit, which tells after how many seconds to come back. */
export const rateLimitedResponse = (): HttpResponse =>
  jsonResponse(
    429,
    { code: 'TooManyRequests', data: [], details: [], message: 'Rate limit exceeded for the user.' },
    { 'retry-after': '300' },
  );
