import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { accessesIn } from './accesses.ts';
import { createTables } from './create-tables.ts';
import { connectSources } from './event-sources.ts';
import { type Gate, startGate } from './gate.ts';
import { type GatewayDocument, gatewayDocumentOf } from './gateway/document.ts';
import type { Lifetimes } from './lifetimes.ts';
import { type LocalFunctions, localFunctions } from './local-functions.ts';
import { localNames, region } from './local-names.ts';
import { permissionsOf } from './permissions.ts';
import { type MessageCounts, type QueueServer, startQueues } from './queues.ts';
import { runSchedules } from './schedules.ts';
import { generateSecrets, type SecretValues, startSecretsManager } from './secrets-manager.ts';
import type { SharedClock } from './shared-clock.ts';
import type { Assembly } from './synthesize.ts';

interface Machine {
  readonly running: Lifetimes;
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
  readonly uses: Gate['uses'];
  readonly document: GatewayDocument;
  /** What functions find in their environment; commands from outside can use it too. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes the resources of a template run on this machine. */
export async function runStack(
  assembly: Assembly,
  { run, secrets: present }: { readonly run: string; readonly secrets: SecretValues },
  { running, clock, databaseEndpoint, worker, log, tellLost }: Machine,
): Promise<RunningStack> {
  const { template } = assembly;
  const queues = await running.hold(startQueues());
  const names = localNames(template, { run, queueUrl: queues.urlOf });
  await queues.open(template, names);
  const secrets = generateSecrets(template, names, present);
  const secretsManager = await running.hold(startSecretsManager(secrets));
  const platform = platformEnvironment({
    database: databaseEndpoint,
    queues: queues.endpoint,
    secrets: secretsManager.endpoint,
  });
  useEnvironment(platform);
  const database = new DynamoDBClient({});
  await createTables(template, names, database);
  const gate = await running.hold(
    startGate({
      accessesOf: accessesIn(template, names),
      permissions: permissionsOf(template, names),
      endpoints: { DynamoDB: databaseEndpoint, AmazonSQS: queues.endpoint, secretsmanager: secretsManager.endpoint },
      log,
    }),
  );
  const gated = platformEnvironment({ database: gate.endpoint, queues: gate.endpoint, secrets: gate.endpoint });
  const functions = await running.hold(localFunctions(assembly, names, { worker, clock, environment: gated, log }));
  const machine = { names, functions, database, databaseEndpoint, clock, log };
  await running.hold({ close: async () => tellLost(await queues.left().catch(() => ({}))) });
  await running.hold(connectSources(template, { ...machine, queues }));
  await running.hold(runSchedules(template, names, machine));
  return {
    secrets,
    functions,
    queues,
    uses: gate.uses,
    document: gatewayDocumentOf(template, names),
    environment: { ...platform, ...functions.environment },
  };
}

interface Endpoints {
  readonly database: string;
  readonly queues: string;
  readonly secrets: string;
}

/** What Lambda, or here its stand-in, adds to the environment of every function. */
const platformEnvironment = (endpoints: Endpoints): Readonly<Record<string, string>> => ({
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.database,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secrets,
  AWS_ENDPOINT_URL_SQS: endpoints.queues,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
});

/** Points this process's own AWS clients at this machine, too; a profile of the user would come before the keys. */
function useEnvironment(environment: Readonly<Record<string, string>>): void {
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, environment);
}
