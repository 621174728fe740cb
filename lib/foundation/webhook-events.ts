/**
 * Webhooks that an app must switch on: requests of stores for statements about refunds, rescinded consents of parents,
 * external purchase tokens, and changes of credits.
 */
export const webhookEvents = ['refunds', 'consents', 'external-purchases', 'credits'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];
