import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningEmulator, startEmulator } from '../emulator/start-emulator.ts';
import { hooks } from '../lib/api/notifications.ts';
import type { IssuedKeys } from '../lib/apps/operator.ts';
import { compileWorker } from './compile-worker.ts';
import { type Demo, type DemoWebhooks, demoApp } from './demo-app.ts';
import { startDynamoDbLocal } from './dynamodb-local.ts';
import { startGateway } from './gateway/start-gateway.ts';
import { type KeptState, keepState, readKeptState } from './kept-state.ts';
import { type Lifetimes, lifetimes } from './lifetimes.ts';
import type { MessageCounts } from './queues.ts';
import { type RunningStack, runStack } from './run-stack.ts';
import { type SharedClock, sharedClock } from './shared-clock.ts';
import { synthesize } from './synthesize.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

interface Options {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly emulatorPort?: number;
  /** Where everything is kept over a restart; without it nothing is. */
  readonly folder?: string;
  /** Takes what the functions print and what goes wrong in them. */
  readonly log?: (text: string) => void;
  /** Takes a line for each webhook that the demo application's server gets. */
  readonly tellWebhook?: (line: string) => void;
  /** Takes what the queues hold at the end, which is lost. */
  readonly tellLost?: (left: MessageCounts) => void;
}

/** The whole service on this machine, with an application to try it. */
export interface LocalService extends IssuedKeys {
  /** Where the webhooks of that application go. */
  readonly webhooks: DemoWebhooks;
  readonly baseUrl: string;
  readonly emulatorUrl: string;
  /** With which commands from outside reach the service's table and secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends every running instance of a function, as a crash would; the platform then tries again. */
  killFunctions(): Promise<void>;
  /** What each function has done so far, and what the template's policies kept it from. */
  readonly uses: RunningStack['uses'];
  /** Messages that no worker has done with. */
  queued(): Promise<MessageCounts>;
  close(): Promise<void>;
}

/** Runs the stack that would be deployed, and the emulator of the stores. Throws a `CannotStart` for what a user can mend. */
export async function startLocal(options: Options = {}): Promise<LocalService> {
  const running = lifetimes();
  try {
    return await start(options, running);
  } catch (thrown) {
    await running.end();
    throw thrown;
  }
}

async function start(options: Options, running: Lifetimes): Promise<LocalService> {
  const { folder, port = 0, log = () => {}, tellWebhook = () => {}, tellLost = () => {} } = options;
  const state = await stateIn(folder);
  const clock = sharedClock();
  const database = running.hold(
    startDynamoDbLocal(folder === undefined ? {} : { directory: join(folder, 'dynamodb') }),
  );
  const emulator = await running.hold(startEmulator(emulatorOptions(options, clock)));
  const work = await running.hold(workFolder());
  const rootCertificate = emulator.rootCertificate.toString('base64');
  const assembly = await synthesize(work.path, { url: emulator.url, rootCertificate });
  const worker = await compileWorker(work.path);
  const { endpoint: databaseEndpoint } = await database;
  // Held before the stack, so that it still takes the webhooks that are being sent at the end.
  const receiver = await running.hold(startWebhookReceiver(state.receiverPort ?? 0, tellWebhook));
  const stack = await runStack(assembly, state, { running, clock, databaseEndpoint, worker, log, tellLost });
  const { keys: demo, webhooks } = await openDemo(stack, { emulator, receiverUrl: receiver.url }, state);
  const { secrets } = stack;
  if (folder !== undefined) await keepState(folder, { ...state, secrets, demo, receiverPort: receiver.port });
  const { document, functions, queues, environment } = stack;
  const gateway = await running.hold(
    startGateway({ port, document, functionOf: functions.named, now: clock.now, log }),
  );
  for (const { platform } of hooks) emulator.notifyAt(platform, `${gateway.url}/v3/webhook/${platform}/${demo.app}`);
  return {
    ...demo,
    webhooks,
    baseUrl: gateway.url,
    emulatorUrl: emulator.url,
    environment,
    uses: stack.uses,
    killFunctions: functions.kill,
    queued: queues.left,
    close: running.end,
  };
}

const emulatorOptions = ({ emulatorPort = 0, folder }: Options, clock: SharedClock) => ({
  port: emulatorPort,
  clock,
  ...(folder !== undefined && { stateFile: join(folder, 'emulator.json') }),
});

/** A folder for what this run builds, removed at its end. */
async function workFolder() {
  const path = await mkdtemp(join(tmpdir(), 'claimcheck-'));
  return { path, close: async () => await rm(path, { recursive: true, force: true }) };
}

const stateIn = async (folder: string | undefined): Promise<KeptState> =>
  (folder !== undefined && (await readKeptState(folder))) || {
    run: `claimcheck-${randomBytes(4).toString('hex')}`,
    secrets: {},
  };

async function openDemo(
  { environment, secrets }: RunningStack,
  place: { readonly emulator: RunningEmulator; readonly receiverUrl: string },
  { demo }: KeptState,
): Promise<Demo> {
  const { TABLE_NAME: table, MASTER_KEY_ID: secretId = '' } = environment;
  const masterKey = secrets[secretId];
  if (!table || !masterKey) throw new Error('The template names no table or no master key.');
  return await demoApp({ ...place, table, masterKey }, demo);
}
