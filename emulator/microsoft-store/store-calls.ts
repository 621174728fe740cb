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

type CallHandler = (context: ResponseContext, call: StoreHttpRequest) => HttpResponse;

type Services = Readonly<Record<string, Readonly<Record<string, CallHandler>>>>;

/** POST handlers of each service that only read, by path in lower case. Paths are case-insensitive. */
const queries: Services = {
  'collections.mp.microsoft.com': {
    '/v6.0/collections/query': queryCollectionV6,
    '/v8.0/collections/b2blicensepreview': queryCollectionV8,
    '/v9.0/collections/publisherquery': queryCollectionV9,
    '/v6.0/b2b/keys/renew': (context, call) => renewKey(context, call, 'collections'),
  },
  'purchase.mp.microsoft.com': {
    '/v8.0/b2b/recurrences/query': queryRecurrences,
    '/v8.0/b2b/orders/query': queryOrders,
    '/v6.0/b2b/keys/renew': (context, call) => renewKey(context, call, 'purchase'),
  },
  // Not an API of the store. The emulator acts as the customer's device at the audience URI of the service ticket.
  'onestore.microsoft.com': {
    '/b2b/keys/create/collections': createKey,
    '/b2b/keys/create/purchase': createKey,
  },
};

/** POST handlers that change purchases, in the same form. */
const changes: Services = {
  'collections.mp.microsoft.com': {
    '/v6.0/collections/consume': consumeV6,
    '/v8.0/collections/consume': consumeV8,
  },
};

const sasTokenPath = '/v8.0/b2b/clawback/sastoken';
const entra = 'login.microsoftonline.com';
const changePath = /^\/v8\.0\/b2b\/recurrences\/([^/]+)\/change$/i;

/** Host names of the store. */
export const hostNames = [entra, queueHost, ...Object.keys(queries)];

/** Handles a call to a host of the store. */
export function handleCall(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  if (call.host === entra) return handleTokenRequest(context, call);
  if (call.host === queueHost) return handleQueueCall(context, call);
  const handler = findHandler(call);
  if (handler === undefined) return textResponse(404, 'Not Found');
  try {
    return handler(context, call);
  } catch (error) {
    return toErrorResponse(error);
  }
}

function findHandler({ host, path, method }: StoreHttpRequest): CallHandler | undefined {
  if (method === 'GET') {
    return host === 'purchase.mp.microsoft.com' && path.toLowerCase() === sasTokenPath
      ? handleSasTokenRequest
      : undefined;
  }
  if (method !== 'POST') return undefined;
  const [, id] = (host === 'purchase.mp.microsoft.com' && changePath.exec(path)) || [];
  if (id !== undefined) return (context, call) => changeRecurrence(context, call, decodeURIComponent(id));
  return findService(queries, host, path) ?? findService(changes, host, path);
}

const findService = (services: Services, host: string, path: string): CallHandler | undefined =>
  services[host]?.[path.toLowerCase()];

/** Returns whether a call by POST only reads. */
export const isQuery = ({ host, path }: StoreHttpRequest): boolean =>
  host === entra || findService(queries, host, path) !== undefined;

/** Creates the response of an outage. */
export const unavailableResponse = (): HttpResponse =>
  jsonResponse(503, { code: 'ServiceUnavailable', data: [], details: [], message: 'The service is unavailable.' });

/** Creates the response of an exceeded rate limit. `Retry-After` is in seconds. */
export const rateLimitedResponse = (): HttpResponse =>
  jsonResponse(
    429,
    { code: 'TooManyRequests', data: [], details: [], message: 'Rate limit exceeded for the user.' },
    { 'retry-after': '300' },
  );
