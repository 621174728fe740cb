import { randomBytes, randomUUID } from 'node:crypto';
import type { App, WebhookSettings } from '../apps/app.ts';
import { getApp } from '../apps/manage-apps.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../shared/errors.ts';
import { buildDelivery, type WebhookDelivery } from './delivery.ts';
import { resetForReplay } from './delivery-transitions.ts';
import { enqueueDeliveries } from './fan-out.ts';
import { parseWebhookUrl } from './webhook-url.ts';

/** A secret of Standard Webhooks: 256 random bits behind its prefix. */
const generateSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The URLs of a text, separated by commas. */
export const parseUrls = (text: string): string[] =>
  text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');

/**
 * Sets where an application's webhooks go, each URL once, and switches those URLs on. Returns the signing secret when it
 * was issued now: at the first time, or when a new one is wanted. Throws `InvalidPayload` for a URL that webhooks must not
 * go to.
 */
export async function setWebhook(
  name: string,
  settings: WebhookSettings,
  { newSecret, deps }: { newSecret: boolean; deps: Pick<Deps, 'apps' | 'deliveries' | 'emulator'> },
): Promise<string | undefined> {
  const sender = await deps.apps.findWebhookSender((await getApp(deps.apps, name)).name);
  const uniqueSettings = { ...settings, urls: dedupe(settings.urls), sandboxUrls: dedupe(settings.sandboxUrls) };
  const all = listUrls(uniqueSettings);
  for (const url of all) parseWebhookUrl(url, { allowsLoopback: deps.emulator.url !== undefined });
  const secret = newSecret || !sender?.signingSecret ? generateSigningSecret() : undefined;
  await deps.apps.setWebhook(name, uniqueSettings, secret);
  for (const url of all) await deps.deliveries.enableUrl(name, url);
  return secret;
}

const dedupe = (urls: readonly string[]): string[] => [...new Set(urls)];
const listUrls = ({ urls, sandboxUrls }: WebhookSettings): string[] => dedupe([...urls, ...sandboxUrls]);

/** Sends a webhook of type `test` to every URL, also to one that was switched off: an answer switches it on. */
export async function sendTestWebhook(name: string, deps: Deps): Promise<readonly WebhookDelivery[]> {
  const { webhookSettings } = await getApp(deps.apps, name);
  const urls = webhookSettings ? listUrls(webhookSettings) : [];
  if (urls.length === 0) throw new ServiceError('InvalidPayload', `${name} has set no webhook URL.`);
  const createdAt = deps.now();
  const notification = { id: randomUUID(), reason: 'TEST', date: createdAt } as const;
  const deliveries = urls.map((url) => buildDelivery({ appName: name, type: 'test', url, notification, createdAt }));
  for (const delivery of deliveries) await deps.deliveries.createIfAbsent(delivery);
  await enqueueDeliveries(deliveries, deps);
  return deliveries;
}

/** Deliveries that failed and wait or are dead, oldest first. */
export async function listDeliveries(name: string, state: WebhookDelivery['state'] | undefined, deps: Deps) {
  const { name: appName }: App = await getApp(deps.apps, name);
  const undelivered = await deps.deliveries.listFailed(appName);
  return undelivered.filter((delivery) => state === undefined || delivery.state === state);
}

/**
 * Sends dead deliveries again, with all attempts before them: one by its id, or all. Returns those that are on their way.
 * Throws `ResourceNotFound` for an id of none that is dead.
 */
export async function replayDeliveries(
  name: string,
  deliveryId: string | undefined,
  deps: Deps,
): Promise<readonly WebhookDelivery[]> {
  const dead = await listDeliveries(name, 'dead', deps);
  const wanted = dead.filter((delivery) => deliveryId === undefined || delivery.deliveryId === deliveryId);
  if (deliveryId !== undefined && wanted.length === 0)
    throw new ServiceError('ResourceNotFound', `${name} has no dead delivery ${deliveryId}.`);
  const waiting: WebhookDelivery[] = [];
  for (const delivery of wanted) {
    const again = resetForReplay(delivery, deps.now());
    if (await deps.deliveries.replaceIfUnchanged(delivery, again, deps.now())) waiting.push(again);
  }
  await enqueueDeliveries(waiting, deps);
  return waiting;
}
