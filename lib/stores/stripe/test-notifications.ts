import type Stripe from 'stripe';
import { measureStep, type NotificationRoute, type RouteProblem, type RouteRequest } from '../notification-route.ts';
import { findRejection } from '../settings.ts';
import type { StoreContext } from '../store-context.ts';
import { callStripe, createStripeClient } from './stripe-client.ts';
import { requiredEvents } from './webhook-events.ts';

/** An account has at most 16 endpoints of a mode. */
const maxEndpoints = 100;

/**
 * Reads the state of the webhook endpoint. Stripe lacks a call for a test event.
 * @see https://docs.stripe.com/api/webhook_endpoints/list
 */
export async function testNotifications({ url }: RouteRequest, context: StoreContext): Promise<NotificationRoute> {
  const { step, result } = await measureStep('webhook endpoint', async () => {
    const endpoints = await listEndpoints(context);
    // Two endpoints with one URL exist during a rotation of the signing secret.
    const own = (endpoints ?? []).filter((endpoint) => endpoint.url === url);
    const endpoint = own.find(({ status }) => status === 'enabled') ?? own[0];
    return { endpoints, endpoint, outcome: describe(endpoints, endpoint) };
  });
  const problems = result.endpoints === undefined ? [] : listProblems(result.endpoint, url);
  return { steps: [step], problems, numDelivered: 0 };
}

/** Returns undefined if the restricted key cannot list the endpoints: the service does not need the permission. */
async function listEndpoints(context: StoreContext): Promise<readonly Stripe.WebhookEndpoint[] | undefined> {
  const stripe = createStripeClient(context);
  try {
    return (await callStripe(async () => await stripe.webhookEndpoints.list({ limit: maxEndpoints }))).data;
  } catch (error) {
    if (findRejection(error)?.rejection === 'permission') return undefined;
    throw error;
  }
}

function describe(
  endpoints: readonly Stripe.WebhookEndpoint[] | undefined,
  endpoint: Stripe.WebhookEndpoint | undefined,
): string {
  if (!endpoints) return 'not readable: the key lacks the permission to read Webhook Endpoints';
  if (!endpoint) return `not among the ${endpoints.length} endpoints of the account`;
  const version = endpoint.api_version ?? 'the default of the account';
  return `${endpoint.status}, API version ${version}, ${describeEvents(endpoint)}`;
}

const acceptsAll = ({ enabled_events: events }: Stripe.WebhookEndpoint): boolean => events.includes('*');

const describeEvents = (endpoint: Stripe.WebhookEndpoint): string =>
  acceptsAll(endpoint) ? 'all events' : `${endpoint.enabled_events.length} events`;

function listProblems(endpoint: Stripe.WebhookEndpoint | undefined, url: string): RouteProblem[] {
  if (!endpoint)
    return [
      {
        code: 'elsewhere',
        problem: `Stripe does not have a webhook endpoint with the URL ${url}.`,
        cure: `Add the endpoint ${url} in the Stripe dashboard, Developers, Webhooks, unless another server forwards the events.`,
      },
    ];
  if (endpoint.status !== 'enabled')
    return [
      {
        code: 'endpoint-disabled',
        problem: `The webhook endpoint ${url} is disabled at Stripe.`,
        cure: 'Enable the endpoint in the Stripe dashboard, Developers, Webhooks, and resend the events that failed.',
      },
    ];
  const missing = requiredEvents.filter((event) => !acceptsAll(endpoint) && !isSelected(endpoint, event));
  if (missing.length === 0) return [];
  return [
    {
      code: 'endpoint-incomplete',
      problem: `The webhook endpoint ${url} lacks ${missing.length} events: ${missing.join(', ')}.`,
      cure: 'Select the events in the Stripe dashboard, Developers, Webhooks.',
    },
  ];
}

const isSelected = ({ enabled_events: events }: Stripe.WebhookEndpoint, event: string): boolean =>
  events.some((name) => name === event);
