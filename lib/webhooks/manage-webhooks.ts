import { randomBytes, randomUUID } from 'node:crypto';
import type { WebhookSettings } from '../apps/app.ts';
import { storeWebhook } from '../apps/app-table.ts';
import { getApp } from '../apps/manage-apps.ts';
import { parseWebhookUrl } from '../foundation/outgoing/webhook-url.ts';
import { isLocalService, type Service } from '../foundation/service.ts';
import { buildDelivery, type WebhookDelivery } from './delivery.ts';
import { createDeliveryIfAbsent, enableWebhookUrl } from './delivery-table.ts';
import { enqueueDeliveries } from './fan-out.ts';
import { missingWebhookUrlError } from './select-webhook-urls.ts';

/**
 * 256 random bits.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
const generateSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Parses a comma-separated list of URLs. */
export const parseUrls = (text: string): string[] =>
  text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');

/**
 * Sets the webhook URLs of an app, without duplicates, and enables them. Absent settings keep their stored values, also
 * those of a concurrent change. Returns the signing secret if it is new: for the first settings, or if `newSecret` is
 * true. Webhooks have signatures of the replaced one, too, for `overlapMs`. Throws `InvalidPayload` for a URL that is
 * not allowed.
 */
export async function saveWebhook(
  service: Service,
  name: string,
  settings: Partial<WebhookSettings>,
  { newSecret, overlapMs = 0 }: { newSecret: boolean; overlapMs?: number },
): Promise<string | undefined> {
  const { urls, sandboxUrls } = settings;
  const uniqueSettings = {
    ...settings,
    ...(urls && { urls: dedupe(urls) }),
    ...(sandboxUrls && { sandboxUrls: dedupe(sandboxUrls) }),
  };
  for (const url of listUrls(settings)) parseWebhookUrl(url, { allowsLoopback: isLocalService(service.emulator) });
  const createSecret = (hasSecret: boolean) => (newSecret || !hasSecret ? generateSigningSecret() : undefined);
  const secret = await storeWebhook(service, name, { settings: uniqueSettings, createSecret, overlapMs });
  const { webhookSettings } = await getApp(service, name);
  for (const url of listUrls(webhookSettings)) await enableWebhookUrl(service, name, url);
  return secret;
}

/** Issues a signing secret and returns it. Webhooks have signatures of the current one, too, for `overlapMs`. */
export const rotateSigningSecret = async (
  service: Service,
  name: string,
  overlapMs: number,
): Promise<string | undefined> => await storeWebhook(service, name, { createSecret: generateSigningSecret, overlapMs });

/** Creates the signing secret of an app that lacks one. Returns the new secret. */
export const ensureSigningSecret = async (service: Service, name: string): Promise<string | undefined> =>
  await storeWebhook(service, name, {
    createSecret: (hasSecret) => (hasSecret ? undefined : generateSigningSecret()),
  });

const dedupe = (urls: readonly string[]): string[] => [...new Set(urls)];
const listUrls = ({ urls = [], sandboxUrls = [] }: Partial<WebhookSettings> = {}): string[] =>
  dedupe([...urls, ...sandboxUrls]);

/** Sends a webhook of type `test` to all URLs, disabled ones included: a successful response enables the URL. */
export async function sendTestWebhook(service: Service, name: string): Promise<readonly WebhookDelivery[]> {
  const { webhookSettings } = await getApp(service, name);
  const urls = listUrls(webhookSettings);
  if (urls.length === 0) throw missingWebhookUrlError();
  const createdAt = service.now();
  const notification = { id: randomUUID(), reason: 'TEST', date: createdAt } as const;
  const deliveries = urls.map((url) => buildDelivery({ appName: name, type: 'test', url, notification, createdAt }));
  for (const delivery of deliveries) await createDeliveryIfAbsent(service, delivery);
  await enqueueDeliveries(service, deliveries);
  return deliveries;
}
