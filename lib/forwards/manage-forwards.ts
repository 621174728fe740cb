import { type Forward, Forwards } from '../apps/forward.ts';
import { parse } from '../shared/parse.ts';
import type { StoreEmulator } from '../shared/store-emulator.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';
import { parseWebhookUrl } from '../webhooks/webhook-url.ts';

interface ManageDeps {
  readonly apps: { setForwards(appName: string, forwards: readonly Forward[]): Promise<void> };
  readonly deliveries: Pick<DeliveryRepository, 'enableUrl'>;
  readonly emulator: StoreEmulator;
}

/** Replaces the forwards of an app, and enables their URLs. Throws `InvalidPayload` for a URL that is not allowed. */
export async function setForwards(appName: string, input: unknown, deps: ManageDeps): Promise<readonly Forward[]> {
  const forwards = parse(Forwards, input);
  for (const { url } of forwards) parseWebhookUrl(url, { allowsLoopback: deps.emulator.url !== undefined });
  await deps.apps.setForwards(appName, forwards);
  for (const { url } of forwards) await deps.deliveries.enableUrl(appName, url);
  return forwards;
}
