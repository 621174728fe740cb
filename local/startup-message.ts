import { networkInterfaces } from 'node:os';
import { join, relative } from 'node:path';
import { type DemoWebhooks, usesLocalReceiver } from './demo-app.ts';
import type { LocalService } from './start-local.ts';

interface StartupOptions {
  readonly isPersistent: boolean;
  /** Folder of the files for scripts and commands. */
  readonly folder: string;
  /** Folder of the data. */
  readonly storedFolder: string;
  /** Scripts and commands use this folder by default. */
  readonly isDefaultFolder: boolean;
  readonly usesRealStores?: boolean | undefined;
  /** Apps that use the real stores, if the others do not. */
  readonly realApps?: readonly string[] | undefined;
  /** Address of the service. Default: this machine only. */
  readonly host?: string;
}

/** Builds the text that `npm start` prints when the service is ready: URLs, keys and commands to paste. */
export function buildStartupMessage(
  service: LocalService,
  { isPersistent, folder, storedFolder, isDefaultFolder, usesRealStores, realApps, host }: StartupOptions,
): string {
  const { baseUrl, consoleUrl, appName, publicKey, secretKey, webhooks } = service;
  const usesRealStore = usesRealStores || realApps?.includes(appName);
  const demoArguments = isDefaultFolder ? '' : ` -- ${relative('', folder)}`;
  return `
Claimcheck   ${baseUrl}
Stores       ${describeStores(service, { usesRealStores, realApps })}
App          ${appName}
Public key   ${publicKey}
Secret key   ${secretKey}
Webhooks     ${describeWebhookTarget(webhooks)}
Signed with  ${webhooks.signingSecret}
Data         ${isPersistent ? `kept in ${storedFolder}` : 'in memory, deleted at exit'}${isDefaultFolder ? '' : describeFolder(folder)}

${usesRealStore ? buildRealLines(service, host) : buildEmulatedLines(demoArguments)}

Open the console, signed in as ${appName}. Press Ctrl-C here to stop.

  ${consoleUrl}
`;
}

function describeStores(
  { emulatorUrl }: LocalService,
  { usesRealStores, realApps }: Pick<StartupOptions, 'usesRealStores' | 'realApps'>,
): string {
  if (usesRealStores) return 'real';
  return realApps
    ? `real for ${realApps.join(', ')}; for others ${emulatorUrl}/control   (emulator, at the time of this machine)`
    : `${emulatorUrl}/control   (emulator; its clock also sets the service's clock)`;
}

const buildEmulatedLines = (demoArguments: string): string =>
  `Play a subscription in another terminal, in this folder. It prints each request and response:

  npm run demo${demoArguments}`;

const buildRealLines = ({ baseUrl, appName, publicKey, secretKey }: LocalService, host: string | undefined): string =>
  `Connect your stores, buy in the sandbox with your app, and list the purchases of a customer:

  npm run -s cli -- --local app set-store ${appName} apple apple.json
  Your app validates at ${(host && listNetworkUrls(host, new URL(baseUrl).port)[0]) ?? baseUrl}/v1/validate?appName=${appName}&apiKey=${publicKey}
  curl -sS -u ${appName}:${secretKey} ${baseUrl}/v3/customers/<user>/purchases`;

/** Values of HOST that other machines do not reach. */
const loopbackHosts: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** Returns the URLs at which other machines, such as a phone, reach the service. Empty if they do not. */
function listNetworkUrls(host: string, port: string): string[] {
  if (loopbackHosts.includes(host)) return [];
  const addresses = Object.values(networkInterfaces()).flatMap((list = []) =>
    list.flatMap(({ address, family, internal }) => (family === 'IPv4' && !internal ? [address] : [])),
  );
  return (isAllInterfaces(host) ? addresses : [host]).map((address) => `http://${address}:${port}`);
}

/** Builds the warning about a service that other machines reach, with its addresses. Undefined if they do not. */
export function buildHostWarning(host: string, port: number): string | undefined {
  if (loopbackHosts.includes(host)) return undefined;
  const urls = listNetworkUrls(host, String(port));
  return `WARNING: HOST=${host} opens the service to other machines, without encryption: ${urls.join(', ') || 'no network'}. Use it in a network that you trust.`;
}

const isAllInterfaces = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Names the folder if another service on this machine uses the default one. */
const describeFolder = (folder: string): string => `
For scripts  ${join(relative('', folder), 'ready.json')}
Commands     npm run cli -- --local --folder ${relative('', folder)} …`;

function describeWebhookTarget({ urls, sandboxUrls }: DemoWebhooks): string {
  const targets = usesLocalReceiver({ urls }) ? 'printed here when delivered' : urls.join(', ') || 'disabled';
  return sandboxUrls.length > 0 ? `${targets}; for sandbox purchases ${sandboxUrls.join(', ')}` : targets;
}
