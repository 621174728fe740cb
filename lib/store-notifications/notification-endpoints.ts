import type { Platform } from '../shared/platform.ts';

/** An HTTP endpoint that receives the notifications of one store. Each endpoint is a Lambda function of its own. */
export interface NotificationEndpoint {
  readonly id: string;
  readonly platform: Platform;
  readonly summary: string;
  /** Path patterns with `:appName`, and without it for stores whose notification URL has the app name in the query. */
  readonly paths: readonly `/${string}`[];
  readonly methods: readonly ('GET' | 'POST')[];
}

/** All notification endpoints. The routes, functions and permissions are generated from this list. */
export const notificationEndpoints: readonly NotificationEndpoint[] = [
  {
    id: 'receive-app-store',
    platform: 'store_a',
    summary: 'Receives server notifications of store_a',
    paths: [...buildPaths('store_a', 'apple'), '/v1/webhook/apple', '/v1/webhook/store_a'],
    methods: ['POST'],
  },
  {
    id: 'receive-google-play',
    platform: 'store_b',
    summary: 'Receives push messages of store_b',
    paths: buildPaths('store_b', 'google'),
    methods: ['POST'],
  },
  {
    id: 'receive-stripe',
    platform: 'processor_a',
    summary: "Receives events of the app's account at processor_a",
    paths: buildPaths('processor_a', 'stripe'),
    methods: ['POST'],
  },
  {
    id: 'receive-service-stripe',
    platform: 'service_processor_a',
    summary: "Receives events of the deployment's account at processor_a",
    paths: buildPaths('service_processor_a', 'iaptic'),
    methods: ['POST'],
  },
  {
    id: 'receive-braintree',
    platform: 'processor_b',
    summary: 'Receives webhooks of processor_b and responds to its challenge',
    paths: buildPaths('processor_b', 'braintree'),
    methods: ['GET', 'POST'],
  },
];

function buildPaths(...tokens: string[]): `/${string}`[] {
  return tokens.flatMap((token) => [`/v3/webhook/${token}/:appName`, `/v3/webhook/${token}`] as const);
}
