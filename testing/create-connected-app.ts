import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { platforms } from '../lib/foundation/platform.ts';
import type { LocalService } from '../local/start-local.ts';
import { callLocalControl } from './call-local.ts';
import { runSuccessfully } from './command-line.ts';

/**
 * Creates an app like an operator: with the settings of all emulated stores, and with the webhook URL of the demo app.
 * The notifications of the stores still go to the demo app.
 */
export async function createConnectedApp(service: LocalService, appName: string): Promise<IssuedApiKeys> {
  const run = async (args: readonly string[], input?: string): Promise<string> =>
    await runSuccessfully(service.environment, args, input);
  const out = await run(['app', 'create', appName]);
  for (const platform of platforms) {
    const settings = await callLocalControl(service, `/settings/${platform}`);
    await run(['app', 'set-store', appName, platform, '-'], JSON.stringify(settings));
  }
  await run(['app', 'set-webhook', appName, ...service.webhooks.urls.flatMap((url) => ['--url', url])]);
  return { appName, publicKey: readKey(out, 'pub'), secretKey: readKey(out, 'sec') };
}

function readKey(out: string, prefix: string): string {
  const [key] = new RegExp(`${prefix}_[\\w-]+`).exec(out) ?? [];
  if (key === undefined) throw new Error(`The command printed no key: ${out}`);
  return key;
}
