import { type Platform, platformTokens } from '../foundation/platform.ts';

/** An HTTP endpoint that receives the notifications of one store. Each endpoint is its own Lambda function. */
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
    platform: platformTokens.appStore,
    summary: 'Receives server notifications of the App Store',
    paths: [...buildPaths(platformTokens.appStore, 'apple'), '/v1/webhook/apple', '/v1/webhook/store_a'],
    methods: ['POST'],
  },
  {
    id: 'receive-google-play',
    platform: platformTokens.googlePlay,
    summary: 'Receives push messages of Google Play',
    paths: buildPaths(platformTokens.googlePlay, 'google'),
    methods: ['POST'],
  },
  {
    id: 'receive-stripe',
    platform: platformTokens.stripe,
    summary: "Receives events of the app's account at Stripe",
    paths: buildPaths(platformTokens.stripe, 'stripe'),
    methods: ['POST'],
  },
  {
    id: 'receive-service-stripe',
    platform: platformTokens.serviceStripe,
    summary: "Receives events of the deployment's account at Stripe",
    paths: buildPaths(platformTokens.serviceStripe, 'iaptic'),
    methods: ['POST'],
  },
  {
    id: 'receive-braintree',
    platform: platformTokens.braintree,
    summary: 'Receives webhooks of Braintree and responds to its challenge',
    paths: buildPaths(platformTokens.braintree, 'braintree'),
    methods: ['GET', 'POST'],
  },
];

function buildPaths(...tokens: string[]): `/${string}`[] {
  return tokens.flatMap((token) => [`/v3/webhook/${token}/:appName`, `/v3/webhook/${token}`] as const);
}

/** Returns the URL to which the store must send the app's notifications. Undefined if the store does not push them. */
export function buildNotificationUrl(baseUrl: string, appName: string, platform: Platform): string | undefined {
  const [path] = notificationEndpoints.find((endpoint) => endpoint.platform === platform)?.paths ?? [];
  return path && `${baseUrl}${path.replace(':appName', encodeURIComponent(appName))}`;
}
