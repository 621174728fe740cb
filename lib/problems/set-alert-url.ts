import type { AppRepository } from '../apps/app-repository.ts';
import { isLocalService, type StoreEmulator } from '../shared/store-emulator.ts';
import { parseWebhookUrl } from '../webhooks/webhook-url.ts';

/** Throws `InvalidPayload` for a URL that is not allowed. An empty one switches alerts off. */
export function requireAlertUrl(url: string, emulator: StoreEmulator): void {
  if (url !== '') parseWebhookUrl(url, { allowsLoopback: isLocalService(emulator) });
}

interface SetAlertUrlDeps {
  readonly apps: Pick<AppRepository, 'update'>;
  readonly emulator: StoreEmulator;
}

/** Sets the URL that receives the alerts of an app. An empty one switches them off. */
export async function setAlertUrl(appName: string, url: string, { apps, emulator }: SetAlertUrlDeps): Promise<void> {
  requireAlertUrl(url, emulator);
  await apps.update(appName, () => ({ members: { alertUrl: url } }));
}
