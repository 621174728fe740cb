/**
 * Webhooks that an app must switch on: requests of stores for statements about refunds, rescinded consents of parents,
 * and external purchase tokens.
 */
export const webhookEvents = ['refunds', 'consents', 'external-purchases'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];
