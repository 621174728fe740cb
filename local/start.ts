import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { announcement } from './announcement.ts';
import { cannotStart, isCannotStart } from './cannot-start.ts';
import { assertFree } from './free-port.ts';
import { holderOf, holdFolder } from './hold-folder.ts';
import { lifetimes } from './lifetimes.ts';
import type { MessageCounts } from './queues.ts';
import { type LocalService, startLocal } from './start-local.ts';

const dataFolder = resolve('.local');
const readyFile = 'ready.json';
const runtimeFile = 'runtime.json';

const running = lifetimes();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop(0));
try {
  await run();
} catch (thrown) {
  console.error(isCannotStart(thrown) ? thrown.message : thrown);
  await stop(1);
}

async function run(): Promise<void> {
  const port = portOf(process.env.PORT);
  await assertFree(port, 'the service');
  await assertFree(port + 1, 'the emulator of the stores');
  const keepsData = process.env.DATA !== 'memory';
  const folder = keepsData ? dataFolder : memoryFolder(port);
  await running.hold({ close: async () => removeIfOwn(folder) });
  await running.hold(holdFolder(folder));
  forget(folder);
  await running.hold({ close: async () => forget(folder) });
  const log = (text: string) => process.stderr.write(text);
  const tellWebhook = (line: string) => console.log(line);
  const options = { port, emulatorPort: port + 1, log, tellWebhook, tellLost, ...(keepsData && { folder }) };
  const service = await running.hold(startLocal(options));
  tell(service, folder);
  console.log(announcement(service, { keepsData, folder, isUsual: folder === dataFolder }));
}

function portOf(text = '4000'): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_535) return port;
  throw cannotStart(`PORT is ${text}, which is not a port: set it to a number from 1 to 65534.`);
}

/** Where a service that keeps nothing tells scripts of itself: in a folder of its own while another service runs here. */
function memoryFolder(port: number): string {
  return holderOf(dataFolder) === undefined ? dataFolder : join(dataFolder, `port-${port}`);
}

function removeIfOwn(folder: string): void {
  if (folder !== dataFolder) rmSync(folder, { recursive: true, force: true });
}

/** For scripts and for `cli --local`; the files hold keys, so only their owner may read them. */
function tell(service: LocalService, folder: string): void {
  const { baseUrl, emulatorUrl, app, publicKey, secretKey, webhooks, environment } = service;
  const { signingSecret } = webhooks;
  write(join(folder, runtimeFile), { environment });
  write(join(folder, readyFile), { baseUrl, emulatorUrl, app, publicKey, secretKey, signingSecret });
}

function write(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
}

function forget(folder: string): void {
  for (const file of [readyFile, runtimeFile]) rmSync(join(folder, file), { force: true });
}

/** Queues are in memory: what is left in them is gone, and the stores, or the sweep, bring it again. */
function tellLost(left: MessageCounts): void {
  const told = Object.entries(left).map(([queue, count]) => `${count} in ${queue}`);
  if (told.length > 0) console.log(`Messages that were still in the queues, and are lost: ${told.join(', ')}`);
}

async function stop(exitCode: number): Promise<never> {
  await running.end();
  process.exit(exitCode);
}
