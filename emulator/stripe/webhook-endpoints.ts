import type Stripe from 'stripe';
import { apiVersion } from './api-error.ts';

/**
 * `GET /v1/webhook_endpoints`: the notification URL of the account, with all events. Its signing secret is shown only
 * when an endpoint is created.
 *
 * @see https://docs.stripe.com/api/webhook_endpoints/list
 */
export function listWebhookEndpoints(url: string | undefined, at: number): object {
  const endpoint: Omit<Stripe.WebhookEndpoint, 'secret'> = {
    id: 'we_1emulated',
    object: 'webhook_endpoint',
    api_version: apiVersion,
    application: null,
    created: Math.floor(at / 1000),
    description: null,
    enabled_events: ['*'],
    livemode: true,
    metadata: {},
    status: 'enabled',
    url: url ?? '',
  };
  return { object: 'list', url: '/v1/webhook_endpoints', has_more: false, data: url === undefined ? [] : [endpoint] };
}
