import Stripe from 'stripe';
import { ServiceError } from '../../shared/errors.ts';
import type { StoreContext, StoreFetch, StoreRequest } from '../store-context.ts';
import { parseStoredSettings } from './settings.ts';

/** The version of the API that the types, the mapping and the webhook endpoints are written for. */
export const apiVersion = '2026-10-28.endive';

type HttpClient = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;

/** The official client of the account in the settings, calling through the fetch that records and ends in time. */
export function createStripeClient({ settings, fetch, now }: Pick<StoreContext, 'settings' | 'fetch' | 'now'>): Stripe {
  return new Stripe(parseStoredSettings(settings).secretKey, {
    apiVersion,
    httpClient: createHttpClient(fetch, now),
    // A caller waits: what fails once is the caller's to ask again.
    maxNetworkRetries: 0,
    telemetry: false,
  });
}

/** What the call gives; the client's errors become this service's. */
export async function callStripe<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toServiceError(error);
  }
}

function toServiceError(error: unknown): unknown {
  const { errors } = Stripe;
  if (!(error instanceof errors.StripeError)) return error;
  const cause = { type: error.type, code: error.code, requestId: error.requestId, message: error.message };
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError) {
    const message = 'The processor refuses the key in the settings: a configuration error.';
    return new ServiceError('InternalError', message, { cause });
  }
  if (error instanceof errors.StripeIdempotencyError) {
    return new ServiceError('Conflict', 'The same operation is under way.', { cause });
  }
  if (error instanceof errors.StripeCardError) {
    return new ServiceError('InvalidPayload', 'The payment was declined.', { cause });
  }
  if (error instanceof errors.StripeInvalidRequestError) {
    const isMissing = error.code === 'resource_missing' || error.statusCode === 404;
    const message = isMissing ? 'The processor does not know this id.' : 'The processor refuses the request.';
    return new ServiceError('InvalidPayload', message, { cause });
  }
  return new ServiceError('ConnectionFailed', 'The processor could not be reached.', { cause });
}

/** One look needs several calls, some after others; its caller waits 15 seconds at most. */
const totalBudgetMs = 12_000;
const maxCallMs = 6_000;

function createHttpClient(fetch: StoreFetch, now: StoreContext['now']): HttpClient {
  const deadline = now() + totalBudgetMs;
  return {
    getClientName: () => 'claimcheck',
    makeRequest: async (host, _port, path, method, headers, body) => {
      const response = await fetch(`https://${host}${path}`, {
        timeoutMs: Math.max(1, Math.min(maxCallMs, deadline - now())),
        method: method as NonNullable<StoreRequest['method']>,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        ...(method !== 'GET' && { body }),
      });
      return {
        getStatusCode: () => response.status,
        getHeaders: () => Object.fromEntries(response.headers),
        getRawResponse: () => response,
        toStream: () => undefined,
        toJSON: async () => JSON.parse(response.text),
      };
    },
  };
}
