import { parseWebhookUrl } from '../foundation/outgoing/webhook-url.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { enableWebhookUrl } from '../webhooks/delivery-table.ts';
import { type Forward, Forwards } from './forward.ts';
import { storeForwards } from './forward-table.ts';

/** Replaces the forwards of an app, and enables their URLs. Throws `InvalidPayload` for a URL that is not allowed. */
export async function saveForwards(service: Service, appName: string, input: unknown): Promise<readonly Forward[]> {
  const forwards = parse(Forwards, input);
  for (const { url } of forwards) parseWebhookUrl(url, { allowsLoopback: service.emulator.url !== undefined });
  await storeForwards(service, appName, forwards);
  for (const { url } of forwards) await enableWebhookUrl(service, appName, url);
  return forwards;
}
