import { randomBytes, randomUUID } from 'node:crypto';
import type { App, WebhookSettings } from '../apps/app.ts';
import { existing } from '../apps/operator.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { type Delivery, newDelivery } from './delivery.ts';
import { sendOut } from './fan-out.ts';
import { replayed } from './outcome.ts';
import { webhookUrl } from './webhook-url.ts';

/** A secret of Standard Webhooks: 256 random bits behind its prefix. */
const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The URLs of a text, separated by commas. */
export const urlsIn = (text: string): string[] =>
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
  wanted: WebhookSettings,
  { newSecret, deps }: { newSecret: boolean; deps: Pick<Deps, 'apps' | 'deliveries' | 'emulator'> },
): Promise<string | undefined> {
  const sender = await deps.apps.webhookSender((await existing(deps.apps, name)).name);
  const settings = { ...wanted, urls: unique(wanted.urls), sandboxUrls: unique(wanted.sandboxUrls) };
  const all = urlsOf(settings);
  for (const url of all) webhookUrl(url, { allowsLoopback: deps.emulator.url !== undefined });
  const secret = newSecret || !sender?.signingSecret ? newSigningSecret() : undefined;
  await deps.apps.setWebhook(name, settings, secret);
  for (const url of all) await deps.deliveries.switchOn(name, url);
  return secret;
}

const unique = (urls: readonly string[]): string[] => [...new Set(urls)];
const urlsOf = ({ urls, sandboxUrls }: WebhookSettings): string[] => unique([...urls, ...sandboxUrls]);

/** Sends a webhook of type `test` to every URL, also to one that was switched off: an answer switches it on. */
export async function testWebhook(name: string, deps: Deps): Promise<readonly Delivery[]> {
  const { webhook } = await existing(deps.apps, name);
  const urls = webhook ? urlsOf(webhook) : [];
  if (urls.length === 0) throw new ServiceError('InvalidPayload', `${name} has set no webhook URL.`);
  const createdAt = deps.now();
  const notification = { id: randomUUID(), reason: 'TEST', date: createdAt } as const;
  const deliveries = urls.map((url) => newDelivery({ app: name, type: 'test', url, notification, createdAt }));
  for (const delivery of deliveries) await deps.deliveries.create(delivery);
  await sendOut(deliveries, deps);
  return deliveries;
}

/** Deliveries that failed and wait or are dead, oldest first. */
export async function listDeliveries(name: string, state: Delivery['state'] | undefined, deps: Deps) {
  const { name: app }: App = await existing(deps.apps, name);
  const undelivered = await deps.deliveries.undelivered(app);
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
): Promise<readonly Delivery[]> {
  const dead = await listDeliveries(name, 'dead', deps);
  const wanted = dead.filter((delivery) => deliveryId === undefined || delivery.deliveryId === deliveryId);
  if (deliveryId !== undefined && wanted.length === 0)
    throw new ServiceError('ResourceNotFound', `${name} has no dead delivery ${deliveryId}.`);
  const waiting: Delivery[] = [];
  for (const delivery of wanted) {
    const again = replayed(delivery, deps.now());
    if (await deps.deliveries.replace(delivery, again, deps.now())) waiting.push(again);
  }
  await sendOut(waiting, deps);
  return waiting;
}
