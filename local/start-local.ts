import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningEmulator, startEmulator } from '../emulator/start-emulator.ts';
import type { StoreKeys } from '../emulator/store-keys.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { minuteMs } from '../lib/foundation/time.ts';
import { notificationEndpoints } from '../lib/store-notifications/notification-endpoints.ts';
import { type DemoApp, type DemoWebhooks, demoName, ensureDemoApp } from './demo-app.ts';
import { startDocumentationBuild } from './documentation.ts';
import { startGateway } from './gateway/start-gateway.ts';
import { createTestPlatform } from './gateway/test-platform.ts';
import type { OnAccess } from './iam-usage.ts';
import type { MessageCounts } from './queue-server.ts';
import { type RunningStack, runStack } from './run-stack.ts';
import { openStateFile, type SavedState, type StateFile } from './saved-state.ts';
import { createSharedClock, type SharedClock } from './shared-clock.ts';
import { createShutdownStack, type ShutdownStack } from './shutdown.ts';
import { synthesize } from './synthesize.ts';
import { startTableEngine } from './table-engine/start-table-engine.ts';
import { createWakeup } from './wakeup.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

interface Options {
  /** Default 0: any free port. */
  readonly port?: number;
  readonly emulatorPort?: number;
  /** Address of the service. Default: 127.0.0.1. The emulator and the engines stay on 127.0.0.1. */
  readonly host?: string;
  /** The service queries the real stores, without an emulator and at the time of this machine. */
  readonly usesRealStores?: boolean;
  /** Apps that use the real stores, while the others use the emulator, at the time of this machine. */
  readonly realApps?: readonly string[] | undefined;
  /** Receives the reason when the table engine ends without `close`. */
  readonly onEngineEnd?: (reason: string) => void;
  /** Data folder that survives a restart. Without it, all data is in memory. */
  readonly folder?: string;
  /**
   * Time for the response of an app's server, which also extends the timeout of the functions. Default: the timeout of
   * the deployment.
   */
  readonly webhookTimeoutMs?: number;
  /** Builds the documentation after the start, and serves it. Default: false. */
  readonly hasDocumentation?: boolean;
  /** Existing table and master key, which the stack adopts instead of creating its own. */
  readonly adopted?: AdoptedData;
  /** Keys of the emulated stores, if they are not in the data folder. Default: new ones. */
  readonly storeKeys?: StoreKeys;
  /** Receives each AWS call of functions and commands that their policies allow. */
  readonly onAccess?: OnAccess;
  /** Receives the output and the errors of the functions. */
  readonly log?: (text: string) => void;
  /** Receives one line per webhook that the demo app's server accepts. */
  readonly onWebhook?: (line: string) => void;
  /** Receives a line before a step that takes seconds. */
  readonly onProgress?: (line: string) => void;
  /** Receives the number of messages that are lost with the queues at shutdown. */
  readonly onMessagesLost?: (lost: MessageCounts) => void;
}

/** The options of a deployment after a restore, and the value of the secret. The table is in the data folder. */
interface AdoptedData {
  readonly tableName: string;
  readonly masterKeyArn: string;
  readonly masterKey: string;
}

/** The service, the store emulator and a demo app, running on this machine. */
export interface LocalService extends IssuedApiKeys {
  /** Webhook URLs and signing secret of the demo app. */
  readonly webhooks: DemoWebhooks;
  readonly baseUrl: string;
  /** Empty with real stores. */
  readonly emulatorUrl: string;
  /** Signs in to the console as the demo app. The fragment has the secret key, which browsers do not send. */
  readonly consoleUrl: string;
  /** Environment with which commands outside this process call the service as an operator. */
  readonly environment: Readonly<Record<string, string>>;
  /** Terminates every running function instance, like a crash. The event sources then retry. */
  killFunctions(): Promise<void>;
  /** Allowed and denied AWS calls of each function so far. */
  readonly usageByFunction: RunningStack['usageByFunction'];
  /** Counts the messages that no worker has finished. */
  countQueuedMessages(): Promise<MessageCounts>;
  close(): Promise<void>;
}

/** Time in which the system reports that the program of the table engine is missing. */
const startCheckMs = 50;

/** DynamoDB deletes an expired item within days. A local table is small, and deletes it within minutes. */
const expirationIntervalMs = 10 * minuteMs;

/** Runs the synthesized stack and the store emulator. Throws a `StartupError` for a problem that the user can fix. */
export async function startLocal(options: Options = {}): Promise<LocalService> {
  const shutdown = createShutdownStack();
  try {
    return await start(options, shutdown);
  } catch (error) {
    await shutdown.closeAll();
    throw error;
  }
}

/** What all parts of the service share while it starts. */
interface StartContext {
  readonly options: Options;
  readonly shutdown: ShutdownStack;
  readonly clock: SharedClock;
  readonly saved: StateFile;
  readonly log: (text: string) => void;
}

async function start(options: Options, shutdown: ShutdownStack): Promise<LocalService> {
  const { folder, adopted, realApps = [], log = () => {} } = options;
  const clock = createSharedClock({ isFixed: realApps.length > 0 });
  const saved = openStateFile(folder);
  if (adopted) saved.save({ secrets: { ...saved.current().secrets, [adopted.masterKeyArn]: adopted.masterKey } });
  const context = { options, shutdown, clock, saved, log };
  const { emulator, receiver, stack, documentationFolder } = await startParts(context);
  const { baseUrl: previousBaseUrl, demo } = saved.current();
  const demoEmulator = realApps.includes(demo?.appName ?? demoName) ? undefined : emulator;
  const endpoints = { emulator: demoEmulator, receiverUrl: receiver.url, now: clock.now };
  const { apiKeys, webhooks } = await createDemo(stack, endpoints, demo);
  await stack.startTriggers();
  saved.save({ secrets: stack.secrets, demo: apiKeys, receiverPort: receiver.port });
  const { url: baseUrl } = await startServiceGateway(context, stack, emulator);
  if (demoEmulator) pointStoresAtDemoApp(demoEmulator, apiKeys.appName, { baseUrl, previousBaseUrl });
  saved.save({ baseUrl });
  if (options.hasDocumentation) await shutdown.add(startDocumentationBuild(documentationFolder, log));
  return {
    ...apiKeys,
    webhooks,
    baseUrl,
    emulatorUrl: emulator?.url ?? '',
    consoleUrl: buildConsoleUrl(baseUrl, apiKeys),
    environment: {
      ...stack.environment,
      API_URL: baseUrl,
      STACK_OUTPUTS: JSON.stringify({ ...stack.outputs, ApiUrl: baseUrl }),
    },
    usageByFunction: stack.usageByFunction,
    killFunctions: stack.functions.kill,
    countQueuedMessages: stack.queues.countMessages,
    close: shutdown.closeAll,
  };
}

/** Starts the table engine, the emulator, the webhook receiver and the stack, without its gateway and triggers. */
async function startParts(context: StartContext) {
  const { options, shutdown, clock, saved, log } = context;
  const { folder, onEngineEnd, onAccess, webhookTimeoutMs, realApps } = options;
  const { onWebhook = () => {}, onMessagesLost = () => {} } = options;
  const changes = createWakeup();
  const engineOptions = { expirationIntervalMs, onExpiration: changes.wake, hasStreams: true };
  const database = shutdown.add(
    startTableEngine({ ...engineOptions, ...(folder !== undefined && { directory: folder }) }),
  );
  // A missing program is known before the emulator generates its keys.
  await Promise.race([database, sleep(startCheckMs)]);
  // The first failure ends the start: a missing engine is known long before the build ends.
  const [engine, { emulator, assembly }] = await Promise.all([database, startEmulatorAndSynthesize(context)]);
  if (onEngineEnd) void engine.ended.then(onEngineEnd);
  // Added before the stack and therefore closed after it: it still accepts webhooks that are sent during shutdown.
  const receiver = await shutdown.add(startWebhookReceiver(saved.current().receiverPort ?? 0, onWebhook));
  const stack = await runStack(assembly, saved.current(), {
    shutdown,
    clock,
    databaseEndpoint: engine.endpoint,
    emulator,
    changes,
    ...(webhookTimeoutMs !== undefined && { webhookTimeoutMs }),
    realApps,
    onAccess,
    saveSecrets: (secrets) => saved.save({ secrets }),
    log,
    onMessagesLost,
  });
  return { emulator, receiver, stack, documentationFolder: assembly.documentationFolder };
}

async function startServiceGateway(
  { options: { port = 0, host, realApps = [] }, shutdown, clock, log }: StartContext,
  { document, functions }: RunningStack,
  emulator: RunningEmulator | undefined,
) {
  return await shutdown.add(
    startGateway({
      port,
      ...(host !== undefined && { host }),
      document,
      getFunction: functions.get,
      now: clock.now,
      log,
      ...(emulator && { prepareRequest: createTestPlatform(emulator.url, realApps) }),
    }),
  );
}

/**
 * Points the notifications of the stores at the demo app, except those to a URL that the user set. After a restart, a
 * store without a URL is one whose notifications the user has turned off.
 */
function pointStoresAtDemoApp(
  { notificationUrls, setNotificationUrl }: RunningEmulator,
  appName: string,
  { baseUrl, previousBaseUrl }: { readonly baseUrl: string; readonly previousBaseUrl: string | undefined },
): void {
  const currentUrls = notificationUrls();
  for (const { platform } of notificationEndpoints) {
    const path = `/v3/webhook/${platform}/${appName}`;
    const ownUrl = previousBaseUrl === undefined ? undefined : `${previousBaseUrl}${path}`;
    if (currentUrls[platform] === ownUrl) setNotificationUrl(platform, `${baseUrl}${path}`);
  }
}

/** Starts the emulator, unless the stores are real, and synthesizes the stack. */
async function startEmulatorAndSynthesize({ options, shutdown, clock }: StartContext) {
  const { adopted, usesRealStores, onProgress = () => {} } = options;
  const emulator = usesRealStores ? undefined : await shutdown.add(startEmulator(buildEmulatorOptions(options, clock)));
  const work = await shutdown.add(createTempFolder());
  const assembly = await synthesize(work.path, {
    onBuild: () => onProgress('Building the functions and the stack (first start, and after a change of the code)'),
    options: adopted ? { tableName: adopted.tableName, masterKeyArn: adopted.masterKeyArn } : {},
  });
  return { emulator, assembly };
}

const buildConsoleUrl = (baseUrl: string, { appName, secretKey }: IssuedApiKeys): string =>
  `${baseUrl}/console#${new URLSearchParams({ app: appName, key: secretKey })}`;

const buildEmulatorOptions = ({ emulatorPort = 0, folder, storeKeys }: Options, clock: SharedClock) => ({
  port: emulatorPort,
  clock,
  keys: storeKeys,
  ...(folder !== undefined && { stateFile: join(folder, 'emulator.json') }),
});

/** Creates a folder for the build output of this run and removes it on close. */
async function createTempFolder() {
  const path = await mkdtemp(join(tmpdir(), 'claimcheck-'));
  return { path, close: async () => await rm(path, { recursive: true, force: true }) };
}

async function createDemo(
  { environment, secrets }: RunningStack,
  endpoints: { readonly emulator: RunningEmulator | undefined; readonly receiverUrl: string; now(): number },
  present: SavedState['demo'],
): Promise<DemoApp> {
  const { TABLE_NAME: table, MASTER_KEY_ID: secretId = '' } = environment;
  const masterKey = secrets[secretId];
  if (!table || !masterKey) throw new Error('The template has no table or no master key.');
  return await ensureDemoApp({ ...endpoints, table, masterKey }, present);
}
