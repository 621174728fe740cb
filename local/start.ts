import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { announcement } from './announcement.ts';
import { cannotStart, isCannotStart } from './cannot-start.ts';
import { assertFree } from './free-port.ts';
import { holdFolder } from './hold-folder.ts';
import { lifetimes } from './lifetimes.ts';
import type { MessageCounts } from './queues.ts';
import { type LocalService, startLocal } from './start-local.ts';

const folder = resolve('.local');
const readyFile = join(folder, 'ready.json');
const runtimeFile = join(folder, 'runtime.json');

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
  forget();
  await running.hold({ close: async () => forget() });
  const keepsData = process.env.DATA !== 'memory';
  if (keepsData) await running.hold(holdFolder(folder));
  const log = (text: string) => process.stderr.write(text);
  const tellWebhook = (line: string) => console.log(line);
  const options = { port, emulatorPort: port + 1, log, tellWebhook, tellLost, ...(keepsData && { folder }) };
  const service = await running.hold(startLocal(options));
  tell(service);
  console.log(announcement(service, keepsData ? folder : undefined));
}

function portOf(text = '4000'): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_535) return port;
  throw cannotStart(`PORT is ${text}, which is not a port: set it to a number from 1 to 65534.`);
}

/** For scripts and for `cli --local`; the files hold keys, so only their owner may read them. */
function tell({ baseUrl, emulatorUrl, app, publicKey, secretKey, environment }: LocalService): void {
  mkdirSync(folder, { recursive: true });
  write(runtimeFile, { environment });
  write(readyFile, { baseUrl, emulatorUrl, app, publicKey, secretKey });
}

function write(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
}

function forget(): void {
  for (const file of [readyFile, runtimeFile]) rmSync(file, { force: true });
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
