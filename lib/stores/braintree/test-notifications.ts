import type { NotificationRoute } from '../notification-route.ts';

/**
 * Braintree lacks an API for webhooks: only the control panel lists them and sends a test.
 * @see https://developer.paypal.com/braintree/docs/guides/webhooks/create
 */
export const testNotifications = async (): Promise<NotificationRoute> => ({
  steps: [
    {
      name: 'webhook',
      outcome: 'not readable: Braintree has no API for it, press Check URL in the control panel',
      durationMs: 0,
    },
  ],
  problems: [],
  numDelivered: 0,
});
