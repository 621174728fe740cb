import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningEmulator, startEmulator } from '../emulator/start-emulator.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { notificationEndpoints } from '../lib/store-notifications/notification-endpoints.ts';
import { compileWorker } from './compile-worker.ts';
import { type DemoApp, type DemoWebhooks, ensureDemoApp } from './demo-app.ts';
import { startDynamoDbLocal } from './dynamodb-local.ts';
import { startGateway } from './gateway/start-gateway.ts';
import type { MessageCounts } from './queue-server.ts';
import { type RunningStack, runStack } from './run-stack.ts';
import { readSavedState, type SavedState, saveState } from './saved-state.ts';
import { createSharedClock, type SharedClock } from './shared-clock.ts';
import { createShutdownStack, type ShutdownStack } from './shutdown.ts';
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
export interface LocalService extends IssuedApiKeys {
  /** Where the webhooks of that application go. */
  readonly webhooks: DemoWebhooks;
  readonly baseUrl: string;
  readonly emulatorUrl: string;
  /** With which commands from outside reach the service's table and secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends every running instance of a function, as a crash would; the platform then tries again. */
  killFunctions(): Promise<void>;
  /** What each function has done so far, and what the template's policies kept it from. */
  readonly usageByFunction: RunningStack['uses'];
  /** Messages that no worker has done with. */
  countQueuedMessages(): Promise<MessageCounts>;
  close(): Promise<void>;
}

/** Runs the stack that would be deployed, and the emulator of the stores. Throws a `CannotStart` for what a user can mend. */
export async function startLocal(options: Options = {}): Promise<LocalService> {
  const running = createShutdownStack();
  try {
    return await start(options, running);
  } catch (error) {
    await running.closeAll();
    throw error;
  }
}

async function start(options: Options, running: ShutdownStack): Promise<LocalService> {
  const {
    folder,
    port = 0,
    log = () => {},
    tellWebhook: onWebhook = () => {},
    tellLost: onMessagesLost = () => {},
  } = options;
  const state = await readOrCreateState(folder);
  const clock = createSharedClock();
  const database = running.add(startDynamoDbLocal(folder === undefined ? {} : { directory: join(folder, 'dynamodb') }));
  const emulator = await running.add(startEmulator(buildEmulatorOptions(options, clock)));
  const work = await running.add(createTempFolder());
  const rootCertificate = emulator.rootCertificate.toString('base64');
  const assembly = await synthesize(work.path, { url: emulator.url, rootCertificate });
  const worker = await compileWorker(work.path);
  const { endpoint: databaseEndpoint } = await database;
  // Held before the stack, so that it still takes the webhooks that are being sent at the end.
  const receiver = await running.add(startWebhookReceiver(state.receiverPort ?? 0, onWebhook));
  const stack = await runStack(assembly, state, {
    running,
    clock,
    databaseEndpoint,
    worker,
    log,
    tellLost: onMessagesLost,
  });
  const { apiKeys: demo, webhooks } = await createDemo(stack, { emulator, receiverUrl: receiver.url }, state);
  const { secrets } = stack;
  if (folder !== undefined) await saveState(folder, { ...state, secrets, demo, receiverPort: receiver.port });
  const { document, functions, queues, environment } = stack;
  const gateway = await running.add(
    startGateway({ port, document, functionOf: functions.findByUri, now: clock.now, log }),
  );
  for (const { platform } of notificationEndpoints)
    emulator.setNotificationUrl(platform, `${gateway.url}/v3/webhook/${platform}/${demo.appName}`);
  return {
    ...demo,
    webhooks,
    baseUrl: gateway.url,
    emulatorUrl: emulator.url,
    environment,
    usageByFunction: stack.uses,
    killFunctions: functions.kill,
    countQueuedMessages: queues.countMessages,
    close: running.closeAll,
  };
}

const buildEmulatorOptions = ({ emulatorPort = 0, folder }: Options, clock: SharedClock) => ({
  port: emulatorPort,
  clock,
  ...(folder !== undefined && { stateFile: join(folder, 'emulator.json') }),
});

/** A folder for what this run builds, removed at its end. */
async function createTempFolder() {
  const path = await mkdtemp(join(tmpdir(), 'claimcheck-'));
  return { path, close: async () => await rm(path, { recursive: true, force: true }) };
}

const readOrCreateState = async (folder: string | undefined): Promise<SavedState> =>
  (folder !== undefined && (await readSavedState(folder))) || {
    run: `claimcheck-${randomBytes(4).toString('hex')}`,
    secrets: {},
  };

async function createDemo(
  { environment, secrets }: RunningStack,
  place: { readonly emulator: RunningEmulator; readonly receiverUrl: string },
  { demo }: SavedState,
): Promise<DemoApp> {
  const { TABLE_NAME: table, MASTER_KEY_ID: secretId = '' } = environment;
  const masterKey = secrets[secretId];
  if (!table || !masterKey) throw new Error('The template names no table or no master key.');
  return await ensureDemoApp({ ...place, table, masterKey }, demo);
}
