import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables } from './create-tables.ts';
import { connectEventSources } from './event-sources.ts';
import { type GatewayDocument, readGatewayDocument } from './gateway/document.ts';
import { createAccessResolver } from './iam-actions.ts';
import { readIamPolicies } from './iam-policies.ts';
import { type IamProxy, startIamProxy } from './iam-proxy.ts';
import { createLocalFunctions, type LocalFunctions } from './local-functions.ts';
import { createLocalNames, region } from './local-names.ts';
import { type MessageCounts, type QueueServer, startQueueServer } from './queue-server.ts';
import { startSchedules } from './schedules.ts';
import { generateSecrets, type SecretValues, startSecretsManager } from './secrets-manager.ts';
import type { SharedClock } from './shared-clock.ts';
import type { ShutdownStack } from './shutdown.ts';
import type { Assembly } from './synthesize.ts';

interface StackOptions {
  readonly running: ShutdownStack;
  readonly clock: SharedClock;
  readonly databaseEndpoint: string;
  /** The compiled `function-worker.ts`. */
  readonly worker: URL;
  readonly log: (text: string) => void;
  /** Takes what is in the queues when no function works them off any more. */
  readonly tellLost: (left: MessageCounts) => void;
}

/** The resources of a template, running. */
export interface RunningStack {
  readonly secrets: SecretValues;
  readonly functions: LocalFunctions;
  readonly queues: QueueServer;
  readonly uses: IamProxy['usageByFunction'];
  readonly document: GatewayDocument;
  /** What functions find in their environment; commands from outside can use it too. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes the resources of a template run on this machine. */
export async function runStack(
  assembly: Assembly,
  { run, secrets: present }: { readonly run: string; readonly secrets: SecretValues },
  { running, clock, databaseEndpoint, worker, log, tellLost: onMessagesLost }: StackOptions,
): Promise<RunningStack> {
  const { template } = assembly;
  const queues = await running.add(startQueueServer());
  const names = createLocalNames(template, { run, queueUrl: queues.getUrl });
  await queues.createQueues(template, names);
  const secrets = generateSecrets(template, names, present);
  const secretsManager = await running.add(startSecretsManager(secrets));
  const platform = buildPlatformEnvironment({
    database: databaseEndpoint,
    queues: queues.endpoint,
    secrets: secretsManager.endpoint,
  });
  applyEnvironment(platform);
  const database = new DynamoDBClient({});
  await createTables(template, names, database);
  const gate = await running.add(
    startIamProxy({
      accessesOf: createAccessResolver(template, names),
      permissions: readIamPolicies(template, names),
      endpoints: { DynamoDB: databaseEndpoint, AmazonSQS: queues.endpoint, secretsmanager: secretsManager.endpoint },
      log,
    }),
  );
  const proxiedEnvironment = buildPlatformEnvironment({
    database: gate.endpoint,
    queues: gate.endpoint,
    secrets: gate.endpoint,
  });
  const functions = await running.add(
    createLocalFunctions(assembly, names, { worker, clock, environment: proxiedEnvironment, log }),
  );
  const machine = { names, functions, database, databaseEndpoint, clock, log };
  await running.add({ close: async () => onMessagesLost(await queues.countMessages().catch(() => ({}))) });
  await running.add(connectEventSources(template, { ...machine, queues }));
  await running.add(startSchedules(template, names, machine));
  return {
    secrets,
    functions,
    queues,
    uses: gate.usageByFunction,
    document: readGatewayDocument(template, names),
    environment: { ...platform, ...functions.environment },
  };
}

interface Endpoints {
  readonly database: string;
  readonly queues: string;
  readonly secrets: string;
}

/** What Lambda, or here its stand-in, adds to the environment of every function. */
const buildPlatformEnvironment = (endpoints: Endpoints): Readonly<Record<string, string>> => ({
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.database,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secrets,
  AWS_ENDPOINT_URL_SQS: endpoints.queues,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
});

/** Points this process's own AWS clients at this machine, too; a profile of the user would come before the keys. */
function applyEnvironment(environment: Readonly<Record<string, string>>): void {
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, environment);
}
