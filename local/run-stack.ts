import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { RunningEmulator } from '../emulator/start-emulator.ts';
import { secondMs } from '../lib/foundation/time.ts';
import { createTables } from './create-tables.ts';
import { connectEventSources } from './event-sources.ts';
import { type GatewayDocument, readGatewayDocument } from './gateway/document.ts';
import { type IamPolicies, readIamPolicies } from './iam-policies.ts';
import { startIamProxy } from './iam-proxy.ts';
import { createIamUsage, type IamUsage, type OnAccess } from './iam-usage.ts';
import { createLocalFunctions, type LocalFunctions } from './local-functions.ts';
import { createLocalNames, region } from './local-names.ts';
import { type MessageCounts, type QueueServer, startQueueServer } from './queue-server.ts';
import { startSchedules } from './schedules.ts';
import { generateSecrets, type SecretValues, startSecretsManager } from './secrets-manager.ts';
import type { SharedClock } from './shared-clock.ts';
import type { ShutdownStack } from './shutdown.ts';
import type { Assembly } from './synthesize.ts';
import { resolveOutputs, type Template } from './template.ts';
import type { Wakeup } from './wakeup.ts';

interface StackOptions {
  readonly shutdown: ShutdownStack;
  readonly clock: SharedClock;
  readonly databaseEndpoint: string;
  /** Undefined with real stores. */
  readonly emulator: RunningEmulator | undefined;
  /** See `ShardReaderOptions`. */
  readonly changes: Wakeup;
  /** See `Options` of start-local.ts. */
  readonly realApps?: readonly string[] | undefined;
  /** See `Options` of start-local.ts. */
  readonly webhookTimeoutMs?: number;
  readonly onAccess?: OnAccess | undefined;
  /** Receives all secrets after a change, such as the rotation of the master key. */
  readonly saveSecrets: (secrets: SecretValues) => void;
  readonly log: (text: string) => void;
  /** Receives the message counts of the queues after the functions have stopped. */
  readonly onMessagesLost: (lost: MessageCounts) => void;
}

export interface RunningStack {
  /** Connects the functions to queues, streams and schedules, after the table has the version of this release. */
  readonly startTriggers: () => Promise<void>;
  readonly secrets: SecretValues;
  readonly functions: LocalFunctions;
  readonly queues: QueueServer;
  readonly usageByFunction: IamUsage['byFunction'];
  readonly document: GatewayDocument;
  readonly outputs: Readonly<Record<string, string>>;
  /** Environment of commands outside this process. They have the permissions of an operator. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Above the time limits of the store calls of one request. */
const maxStoreTimeMs = 30 * secondMs;

/** Starts the resources of a synthesized template on this machine. */
export async function runStack(
  assembly: Assembly,
  saved: { readonly run: string; readonly secrets: SecretValues },
  options: StackOptions,
): Promise<RunningStack> {
  const { template } = assembly;
  const { shutdown, clock, changes, onAccess, log, onMessagesLost } = options;
  const platform = await startPlatform(template, saved, options);
  const { queues, names, policies } = platform;
  const functions = await shutdown.add(
    createLocalFunctions(assembly, names, {
      clock,
      environment: { ...platform.environment, ...buildFunctionSettings(options) },
      minTimeoutMs: getMinTimeoutMs(options),
      access: platform.access,
      reportsAllCalls: onAccess !== undefined,
      onCall: platform.usage.record,
      onWrite: changes.wake,
      log,
    }),
  );
  const runtime = { ...platform, ...options, functions };
  await shutdown.add({ close: async () => onMessagesLost(await queues.countMessages().catch(() => ({}))) });
  return {
    startTriggers: async () => {
      await shutdown.add(connectEventSources(template, runtime));
      const stopped = (process.env.STOPPED_SCHEDULES ?? '').split(/[, ]+/).filter(Boolean);
      await shutdown.add(startSchedules(template, names, { ...runtime, stopped }));
    },
    secrets: platform.secrets,
    functions,
    queues,
    usageByFunction: platform.usage.byFunction,
    document: readGatewayDocument(template, names),
    outputs: resolveOutputs(template, names),
    environment: {
      ...platform.environment,
      ...buildEmulatorSettings(options),
      ...functions.environment,
      AWS_ACCESS_KEY_ID: getOperatorId(policies),
    },
  };
}

/**
 * Starts the AWS services that functions and commands call, with the queues, the secrets and the tables of the
 * template. Clients of this process call them directly.
 */
async function startPlatform(
  template: Template,
  { run, secrets: savedSecrets }: { readonly run: string; readonly secrets: SecretValues },
  { shutdown, clock, databaseEndpoint, changes, onAccess, saveSecrets, log }: StackOptions,
) {
  const queues = await shutdown.add(startQueueServer());
  const names = createLocalNames(template, { run, getQueueUrl: queues.getUrl });
  await queues.createQueues(template, names);
  const secrets = generateSecrets(template, names, savedSecrets);
  const secretsManager = await shutdown.add(startSecretsManager(secrets, saveSecrets));
  applyEnvironment(
    buildPlatformEnvironment({ database: databaseEndpoint, queues: queues.endpoint, secrets: secretsManager.url }),
  );
  const database = new DynamoDBClient({});
  await createTables(template, names, database);
  clock.onSet(changes.wake);
  const policies = readIamPolicies(template, names);
  const endpoints = {
    DynamoDB: databaseEndpoint,
    AmazonSQS: queues.endpoint,
    secretsmanager: secretsManager.url,
  };
  const access = { policies, endpoints };
  const usage = createIamUsage(policies, { onAccess, log });
  const { url } = await shutdown.add(startIamProxy({ ...access, usage, onWrite: changes.wake }));
  const environment = buildPlatformEnvironment({ database: url, queues: url, secrets: url });
  return { queues, names, secrets, database, policies, access, usage, environment };
}

/** Builds the variables that only a service on this machine has. */
const buildEmulatorSettings = ({ emulator, realApps = [] }: StackOptions) => ({
  LOCAL_SERVICE: 'true',
  REAL_STORE_APPS: realApps.join(','),
  STORE_EMULATOR_URL: emulator?.url ?? '',
  STORE_EMULATOR_ROOT: emulator?.rootCertificate.toString('base64') ?? '',
});

/** Builds the variables of the functions, some of which the user of `npm start` sets. */
function buildFunctionSettings(options: StackOptions) {
  const { webhookTimeoutMs } = options;
  const { STORE_TIME_FACTOR: storeTimeFactor, OTLP_TRACES_URL: otlpTracesUrl } = process.env;
  return {
    ...buildEmulatorSettings(options),
    ...(webhookTimeoutMs !== undefined && { WEBHOOK_TIMEOUT_MS: String(webhookTimeoutMs) }),
    ...(storeTimeFactor && { STORE_TIME_FACTOR: storeTimeFactor }),
    ...(otlpTracesUrl && { OTLP_TRACES_URL: otlpTracesUrl }),
  };
}

/**
 * Returns the lower bound of the timeouts of the functions. An attempt needs more time than the response of the app's
 * server, and a validation more than its calls of the store.
 */
const getMinTimeoutMs = ({ webhookTimeoutMs = 0 }: StackOptions): number =>
  Math.max(2 * webhookTimeoutMs, Number(process.env.STORE_TIME_FACTOR ?? 0) * maxStoreTimeMs);

/** Returns the id with which commands outside this process have the permissions of an operator. */
function getOperatorId({ managedPolicies: [id, ...others] }: IamPolicies): string {
  if (id === undefined || others.length > 0)
    throw new Error('The template must have one managed policy, for operators.');
  return id;
}

interface Endpoints {
  readonly database: string;
  readonly queues: string;
  readonly secrets: string;
}

/** Builds the variables that the platform adds to the environment of every function. */
const buildPlatformEnvironment = (endpoints: Endpoints): Readonly<Record<string, string>> => ({
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.database,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secrets,
  AWS_ENDPOINT_URL_SQS: endpoints.queues,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
});

/** Points this process's own AWS clients at this machine. A profile of the user would take precedence over the keys. */
function applyEnvironment(environment: Readonly<Record<string, string>>): void {
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, environment);
}
