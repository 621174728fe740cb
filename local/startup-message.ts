import { join, relative } from 'node:path';
import { type DemoWebhooks, usesLocalReceiver } from './demo-app.ts';
import type { LocalService } from './start-local.ts';

interface StartupOptions {
  readonly isPersistent: boolean;
  /** Where scripts and commands find what they need. */
  readonly folder: string;
  /** Whether they look there unasked. */
  readonly isDefaultFolder: boolean;
}

/** What `npm start` prints when the service is ready: where it is, its keys, and lines to paste. */
export function buildStartupMessage(
  service: LocalService,
  { isPersistent, folder, isDefaultFolder }: StartupOptions,
): string {
  const { baseUrl, emulatorUrl, appName, publicKey, secretKey, webhooks } = service;
  return `
Claimcheck   ${baseUrl}
Stores       ${emulatorUrl}/control   (an emulator: its clock moves the service's clock)
Application  ${appName}
Public key   ${publicKey}
Secret key   ${secretKey}
Webhooks     ${describeWebhookTarget(webhooks)}
Signed with  ${webhooks.signingSecret}
Data         ${isPersistent ? `kept in ${folder}` : 'in memory, gone when this stops'}${isDefaultFolder ? '' : describeFolder(folder)}

Buy a subscription, have its receipt validated, and read back what Alice owns:

  BOUGHT=$(curl -sS ${emulatorUrl}/control/purchases -d '{"platform":"store_a","productId":"premium","type":"paid subscription","applicationUsername":"alice"}')
  node -p 'JSON.stringify(JSON.parse(process.argv[1]).validate)' "$BOUGHT" | curl -sS -u ${appName}:${publicKey} ${baseUrl}/v1/validate -d @-
  curl -sS -u ${appName}:${secretKey} ${baseUrl}/v3/customers/alice/purchases

Ctrl-C stops everything.
`;
}

/** Another service runs here, whose folder scripts and commands look into. */
const describeFolder = (folder: string): string => `
For scripts  ${join(relative('', folder), 'ready.json')}
Commands     npm run cli -- --local --folder ${relative('', folder)} …`;

function describeWebhookTarget({ urls, sandboxUrls }: DemoWebhooks): string {
  const main = urls.join(', ') || 'switched off';
  const told = usesLocalReceiver({ urls }) ? "printed here as the application's server gets them" : main;
  return sandboxUrls.length > 0 ? `${told}; of sandbox purchases ${sandboxUrls.join(', ')}` : told;
}
