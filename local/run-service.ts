import '../lib/foundation/disable-node-version-warning.ts';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { AppName } from '../lib/apps/app.ts';
import { assertPortFree } from './free-port.ts';
import { findLockOwner, lockFolder } from './lock-folder.ts';
import type { MessageCounts } from './queue-server.ts';
import { createShutdownStack } from './shutdown.ts';
import { type LocalService, startLocal } from './start-local.ts';
import { isStartupError, startupError } from './startup-error.ts';
import { buildHostWarning, buildStartupMessage } from './startup-message.ts';
import { assertEngineInstalled } from './table-engine/start-table-engine.ts';
import { writeJsonFile } from './write-json-file.ts';

const dataFolder = resolve('.local');
const readyFile = 'ready.json';
const runtimeFile = 'runtime.json';

const shutdown = createShutdownStack();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop(0));
try {
  await main();
} catch (error) {
  console.error(isStartupError(error) ? error.message : error);
  await stop(1);
}

async function main(): Promise<void> {
  // Before the first build, which takes seconds.
  rejectArguments(process.argv.slice(2));
  assertEngineInstalled();
  const port = parsePort(process.env.PORT);
  const { usesRealStores, realApps } = parseStores(process.env.STORES);
  const { HOST: host = '127.0.0.1' } = process.env;
  await assertPortFree(port, 'the service');
  if (!usesRealStores) await assertPortFree(port + 1, 'the store emulator');
  const isPersistent = parseIsPersistent(process.env.DATA);
  const folder = isPersistent ? dataFolder : chooseMemoryFolder(port);
  // The purchases of emulated stores do not exist in the real ones, and their clock can be moved.
  const storedFolder = usesRealStores ? join(folder, 'real-stores') : realApps ? join(folder, 'real-apps') : folder;
  await shutdown.add({ close: async () => removeTempFolder(folder) });
  await shutdown.add(lockFolder(folder));
  removeServiceFiles(folder);
  await shutdown.add({ close: async () => removeServiceFiles(folder) });
  const log = (text: string) => process.stderr.write(text);
  const options = {
    port,
    emulatorPort: port + 1,
    log,
    onWebhook: (line: string) => console.log(line),
    onMessagesLost: printLostMessages,
    onProgress: (line: string) => console.log(line),
    onEngineEnd: (reason: string) => {
      console.error(`The table engine has ended (${reason}), so the service stops. Start it again with npm start.`);
      void stop(1);
    },
    host,
    usesRealStores,
    realApps,
    hasDocumentation: true,
    ...(isPersistent && { folder: storedFolder }),
  };
  const service = await shutdown.add(startLocal(options));
  writeServiceFiles(service, folder);
  const isDefaultFolder = folder === dataFolder;
  const shown = { isPersistent, folder, storedFolder, isDefaultFolder, usesRealStores, realApps, host };
  console.log(buildStartupMessage(service, shown));
  const warning = buildHostWarning(host, port);
  if (warning !== undefined) console.log(warning);
}

function rejectArguments([argument]: readonly string[]): void {
  if (argument === undefined) return;
  throw startupError(`npm start has no option ${argument}. Its options are variables: PORT=5000 npm start.`);
}

function parsePort(text = '4000'): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_535) return port;
  throw startupError(`PORT ${text} is not valid: set a number from 1 to 65534.`);
}

function parseIsPersistent(text = ''): boolean {
  if (text === '' || text === 'memory') return text === '';
  throw startupError(`DATA ${text} is not valid: set memory, or leave it unset to keep the data in .local/.`);
}

/** The service queries the real stores, or for which apps. */
function parseStores(text = 'emulated') {
  if (text === 'emulated' || text === 'real') return { usesRealStores: text === 'real' };
  const [, apps = ''] = /^real:(.+)$/.exec(text) ?? [];
  const realApps = apps.split(',').map((name) => name.trim());
  if (realApps.every((name) => v.is(AppName, name))) return { usesRealStores: false, realApps };
  throw startupError(`STORES ${text} is not valid: set emulated, real, or real: with apps, such as real:my-app.`);
}

/** Chooses the folder of a service without persistent data: its own folder if another service uses the default. */
function chooseMemoryFolder(port: number): string {
  return findLockOwner(dataFolder) === undefined ? dataFolder : join(dataFolder, `port-${port}`);
}

function removeTempFolder(folder: string): void {
  if (folder !== dataFolder) rmSync(folder, { recursive: true, force: true });
}

/** Writes the files for scripts and `cli --local`. */
function writeServiceFiles(service: LocalService, folder: string): void {
  const { baseUrl, emulatorUrl, consoleUrl, appName, publicKey, secretKey, webhooks, environment } = service;
  const { signingSecret } = webhooks;
  writeJsonFile(join(folder, runtimeFile), { environment });
  const keys = { publicKey, secretKey, signingSecret };
  const urls = { baseUrl, ...(emulatorUrl !== '' && { emulatorUrl }), consoleUrl };
  writeJsonFile(join(folder, readyFile), { ...urls, app: appName, ...keys });
}

function removeServiceFiles(folder: string): void {
  for (const file of [readyFile, runtimeFile]) rmSync(join(folder, file), { force: true });
}

/** Queues are in memory. Lost work is repeated: stores send notifications again, and due items are enqueued again. */
function printLostMessages(lost: MessageCounts): void {
  const counts = Object.entries(lost).map(([queue, count]) => `${count} in ${queue}`);
  if (counts.length > 0) console.log(`Queued messages lost: ${counts.join(', ')}`);
}

async function stop(exitCode: number): Promise<never> {
  await shutdown.closeAll();
  process.exit(exitCode);
}
