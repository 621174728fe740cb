import Stripe from 'stripe';
import type { StoreContext, StoreFetch, StoreFetchOptions } from '../store-context.ts';
import { type BudgetedCalls, withTimeBudget } from '../time-budget.ts';
import { storeName, toServiceError } from './api-errors.ts';
import { parseStoredSettings } from './settings.ts';

/**
 * Stripe API version of the schemas and the mapping. Webhook endpoints must be created with the same version.
 *
 * @see https://docs.stripe.com/api/versioning
 */
export const apiVersion = '2026-10-28.endive';

type HttpClient = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;

/** An operation needs several sequential calls, and API clients wait at most 15 s. */
const totalMs = 12_000;
const maxCallMs = 6_000;

/** Creates the official client. Its requests use the recording fetch and share one time budget. */
export function createStripeClient({
  settings,
  ...calls
}: Pick<StoreContext, 'settings' | 'fetch' | 'stopwatch'>): Stripe {
  return new Stripe(parseStoredSettings(settings).secretKey, {
    apiVersion,
    httpClient: createHttpClient(withRequestBudget(calls)),
    // An API client waits for the response, so retries are left to that client.
    maxNetworkRetries: 0,
    telemetry: false,
  });
}

/** Runs calls of the Stripe client. Errors of the client become `ServiceError`s. */
export async function callStripe<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toServiceError(error);
  }
}

const createHttpClient = (fetch: StoreFetch): HttpClient => ({
  getClientName: () => 'claimcheck',
  makeRequest: async (host, _port, path, method, headers, body) => {
    const response = await fetch(`https://${host}${path}`, {
      method: method as NonNullable<StoreFetchOptions['method']>,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ...(method !== 'GET' && { body }),
    });
    return {
      getStatusCode: () => response.status,
      getHeaders: () => ({ ...response.headers }),
      getRawResponse: () => response,
      toStream: () => undefined,
      toJSON: async () => JSON.parse(response.text),
    };
  },
});

/** Creates a fetch whose calls to Stripe share a time budget. */
const withRequestBudget = (calls: BudgetedCalls): StoreFetch =>
  withTimeBudget(calls, { totalMs, maxCallMs, storeName });
