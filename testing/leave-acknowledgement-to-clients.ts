import type { LocalService } from '../local/start-local.ts';
import { callLocalControl } from './call-local.ts';
import { runSuccessfully } from './command-line.ts';

/** Changes the demo app, whose purchases of Google Play the service acknowledges, to leave that to the clients. */
export async function leaveAcknowledgementToClients(service: LocalService): Promise<void> {
  const settings = await callLocalControl(service, '/settings/store_b');
  const command = ['app', 'set-store', service.appName, 'store_b', '-'];
  await runSuccessfully(service.environment, command, JSON.stringify(settings));
}
