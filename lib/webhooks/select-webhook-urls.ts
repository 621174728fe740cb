import type { App } from '../apps/app.ts';
import { ServiceError } from '../foundation/errors.ts';
import { buildDelivery, type NewDelivery, type WebhookDelivery } from './delivery.ts';

/** Finds the app of a delivery. */
export type FindApp = (appName: string) => Promise<App | undefined>;

export const missingWebhookUrlError = (): ServiceError =>
  new ServiceError(
    'InvalidPayload',
    'The app has no webhook URL. Set one with app set-webhook, or with PUT /v3/app/webhooks.',
  );

/** Returns the sandbox URLs for a sandbox purchase if the app has any, otherwise the main URLs. */
export function selectWebhookUrls(
  { webhookSettings, deletedAt }: App,
  isSandbox: boolean | undefined,
): readonly string[] {
  if (!webhookSettings || deletedAt !== undefined) return [];
  return isSandbox && webhookSettings.sandboxUrls.length > 0 ? webhookSettings.sandboxUrls : webhookSettings.urls;
}

/** Builds a delivery for each of these URLs. */
export const buildForUrls = (
  app: App,
  isSandbox: boolean | undefined,
  delivery: Omit<NewDelivery, 'appName' | 'url'>,
): WebhookDelivery[] =>
  selectWebhookUrls(app, isSandbox).map((url) => buildDelivery({ ...delivery, appName: app.name, url }));
