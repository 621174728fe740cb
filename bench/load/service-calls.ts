import type { startWebhookRecorder } from '../webhook-recorder.ts';
import type { ServiceProcess } from './service-process.ts';

export type Recorder = Awaited<ReturnType<typeof startWebhookRecorder>>;

/** Makes `getService` of this process use the tables and queues of a service. Can be called for several services. */
export async function connectService({ environment }: ServiceProcess): Promise<void> {
  Object.assign(process.env, environment);
  const { setContainerLookup } = await import('../../lib/foundation/container.ts');
  const { createRequestHandler } = await import('../../lib/foundation/outgoing/aws-client.ts');
  const container = { clientOptions: { requestHandler: createRequestHandler() } };
  setContainerLookup(() => container);
}

/** Sets the webhook URL of the app like the CLI, and waits until all instances use it. */
export async function setWebhookUrl(service: ServiceProcess, recorder: Recorder): Promise<void> {
  const { getService } = await import('../../lib/foundation/get-service.ts');
  const { saveWebhook } = await import('../../lib/webhooks/manage-webhooks.ts');
  const settings = { urls: [recorder.url], sandboxUrls: [], includesPassword: false };
  recorder.setSecret((await saveWebhook(getService(), service.app, settings, { newSecret: true })) ?? '');
}

/** Sets the URL to which the App Store posts notifications; null stops them. */
export async function sendNotificationsTo({ emulatorUrl }: ServiceProcess, url: string | null): Promise<void> {
  const response = await fetch(`${emulatorUrl}/control/notifications/store_a`, {
    method: 'PUT',
    body: JSON.stringify({ url }),
  });
  if (!response.ok) throw new Error(`notifications: ${response.status}`);
}

/** Calls the control API of the emulated stores. */
export async function control({ emulatorUrl }: ServiceProcess, path: string, body: object): Promise<object> {
  const response = await fetch(`${emulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as object;
}
