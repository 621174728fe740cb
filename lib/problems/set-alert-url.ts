import { updateApp } from '../apps/app-table.ts';
import { parseWebhookUrl } from '../foundation/outgoing/webhook-url.ts';
import { isLocalService, type Service, type StoreEmulator } from '../foundation/service.ts';

/** Throws `InvalidPayload` for a URL that is not allowed. An empty one switches alerts off. */
export function requireAlertUrl(url: string, emulator: StoreEmulator): void {
  if (url !== '') parseWebhookUrl(url, { allowsLoopback: isLocalService(emulator) });
}

/** Sets the URL that receives the alerts of an app. An empty one switches them off. */
export async function setAlertUrl(service: Service, appName: string, url: string): Promise<void> {
  requireAlertUrl(url, service.emulator);
  await updateApp(service, appName, () => ({ members: { alertUrl: url } }));
}
