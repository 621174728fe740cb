import { join, relative } from 'node:path';
import { type DemoWebhooks, usesLocalReceiver } from './demo-app.ts';
import type { LocalService } from './start-local.ts';

interface StartupOptions {
  readonly isPersistent: boolean;
  /** Folder of the files for scripts and commands. */
  readonly folder: string;
  /** Whether scripts and commands use this folder by default. */
  readonly isDefaultFolder: boolean;
}

/** Builds the text that `npm start` prints when the service is ready: URLs, keys and commands to paste. */
export function buildStartupMessage(
  service: LocalService,
  { isPersistent, folder, isDefaultFolder }: StartupOptions,
): string {
  const { baseUrl, emulatorUrl, consoleUrl, appName, publicKey, secretKey, webhooks } = service;
  return `
Claimcheck   ${baseUrl}
Stores       ${emulatorUrl}/control   (emulator; its clock also sets the service's clock)
App          ${appName}
Public key   ${publicKey}
Secret key   ${secretKey}
Webhooks     ${describeWebhookTarget(webhooks)}
Signed with  ${webhooks.signingSecret}
Data         ${isPersistent ? `kept in ${folder}` : 'in memory, deleted at exit'}${isDefaultFolder ? '' : describeFolder(folder)}

Buy a subscription, validate its receipt, and list the purchases of Alice:

  BOUGHT=$(curl -sS ${emulatorUrl}/control/purchases -d '{"platform":"store_a","productId":"premium","type":"paid subscription","applicationUsername":"alice"}')
  node -p 'JSON.stringify(JSON.parse(process.argv[1]).validate)' "$BOUGHT" | curl -sS -u ${appName}:${publicKey} ${baseUrl}/v1/validate -d @-
  curl -sS -u ${appName}:${secretKey} ${baseUrl}/v3/customers/alice/purchases

Open the console, signed in as ${appName}. Press Ctrl-C here to stop.

  ${consoleUrl}
`;
}

/** Names the folder if another service on this machine uses the default one. */
const describeFolder = (folder: string): string => `
For scripts  ${join(relative('', folder), 'ready.json')}
Commands     npm run cli -- --local --folder ${relative('', folder)} …`;

function describeWebhookTarget({ urls, sandboxUrls }: DemoWebhooks): string {
  const targets = usesLocalReceiver({ urls }) ? 'printed here when delivered' : urls.join(', ') || 'disabled';
  return sandboxUrls.length > 0 ? `${targets}; for sandbox purchases ${sandboxUrls.join(', ')}` : targets;
}
