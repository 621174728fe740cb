import type { Platform } from '../shared/platform.ts';

/** Where a store's server notifications land: one function a store, all of the same file. */
export interface NotificationEndpoint {
  readonly id: string;
  readonly platform: Platform;
  readonly summary: string;
  /** With `:appName`, or without one for set-ups that name the application in the query. */
  readonly paths: readonly `/${string}`[];
  readonly methods: readonly ('GET' | 'POST')[];
}

/** Every hook of the service. Its routes, functions and permissions are made from this list. */
export const notificationEndpoints: readonly NotificationEndpoint[] = [
  {
    id: 'receive-store-a',
    platform: 'store_a',
    summary: 'Server notifications of store_a',
    paths: [...buildPaths('store_a', 'apple'), '/v1/webhook/apple', '/v1/webhook/store_a'],
    methods: ['POST'],
  },
  {
    id: 'receive-store-b',
    platform: 'store_b',
    summary: 'Push messages of store_b',
    paths: buildPaths('store_b', 'google'),
    methods: ['POST'],
  },
  {
    id: 'receive-processor-a',
    platform: 'processor_a',
    summary: 'Events of the application’s account at processor_a',
    paths: buildPaths('processor_a', 'stripe'),
    methods: ['POST'],
  },
  {
    id: 'receive-service-processor-a',
    platform: 'service_processor_a',
    summary: 'Events of the deployment’s own account at processor_a',
    paths: buildPaths('service_processor_a', 'iaptic'),
    methods: ['POST'],
  },
  {
    id: 'receive-processor-b',
    platform: 'processor_b',
    summary: 'Webhooks of processor_b, and its challenge',
    paths: buildPaths('processor_b', 'braintree'),
    methods: ['GET', 'POST'],
  },
];

function buildPaths(...tokens: string[]): `/${string}`[] {
  return tokens.flatMap((token) => [`/v3/webhook/${token}/:appName`, `/v3/webhook/${token}`] as const);
}
