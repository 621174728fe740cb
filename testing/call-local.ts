import type { LocalService } from '../local/start-local.ts';
import { buildBasicAuth } from './call.ts';
import { waitFor } from './wait-for.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
export type Json = Readonly<Record<string, any>>;

/** Calls the control API of the emulator: POST if there is a body. Does not check the status. */
export async function callLocalControl(
  { emulatorUrl }: Pick<LocalService, 'emulatorUrl'>,
  path: string,
  body?: object,
): Promise<Json> {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(`${emulatorUrl}/control${path}`, init)).json()) as Json;
}

/** Calls the local service with the secret key of the demo app: POST if there is a body. Does not check the status. */
export async function callLocalService(
  { baseUrl, appName, secretKey }: Pick<LocalService, 'baseUrl' | 'appName' | 'secretKey'>,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Json }> {
  const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const response = await fetch(baseUrl + path, { ...init, headers: buildBasicAuth(appName, secretKey) });
  return { status: response.status, body: (await response.json()) as Json };
}

/** Waits until the queues of the local service are empty. */
export const waitUntilQueuesEmpty = async ({
  countQueuedMessages,
}: Pick<LocalService, 'countQueuedMessages'>): Promise<unknown> =>
  await waitFor(
    'empty queues',
    async () => Object.keys(await countQueuedMessages()),
    (names) => names.length === 0,
  );

/** Advances the clock by 15 s: then all functions use a changed setting and reject a revoked key. */
export const letSettingsTakeEffect = async (service: Pick<LocalService, 'emulatorUrl'>): Promise<Json> =>
  await callLocalControl(service, '/clock', { advance: 'PT15S' });
