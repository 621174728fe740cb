import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables } from './create-tables.ts';
import { type GatewayDocument, gatewayDocumentOf } from './gateway/document.ts';
import type { Lifetimes } from './lifetimes.ts';
import { type LocalFunctions, localFunctions } from './local-functions.ts';
import { localNames, region } from './local-names.ts';
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
}

/** The resources of a template, running. */
export interface RunningStack {
  readonly secrets: SecretValues;
  readonly functions: LocalFunctions;
  readonly document: GatewayDocument;
  /** What functions find in their environment; commands from outside can use it too. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes the resources of a template run on this machine. */
export async function runStack(
  assembly: Assembly,
  { run, secrets: present }: { readonly run: string; readonly secrets: SecretValues },
  { running, clock, databaseEndpoint, worker, log }: Machine,
): Promise<RunningStack> {
  const { template } = assembly;
  const names = localNames(template, run);
  const secrets = generateSecrets(template, names, present);
  const secretsManager = await running.hold(startSecretsManager(secrets));
  const platform = platformEnvironment(databaseEndpoint, secretsManager.endpoint);
  useEnvironment(platform);
  await createTables(template, names, new DynamoDBClient({}));
  const functions = await running.hold(localFunctions(assembly, names, { worker, clock, environment: platform, log }));
  return {
    secrets,
    functions,
    document: gatewayDocumentOf(template, names),
    environment: { ...platform, ...functions.environment },
  };
}

/** What Lambda, or here its stand-in, adds to the environment of every function. */
const platformEnvironment = (database: string, secretsManager: string): Readonly<Record<string, string>> => ({
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: database,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager,
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
});

/** Points this process's own AWS clients at this machine, too; a profile of the user would come before the keys. */
function useEnvironment(environment: Readonly<Record<string, string>>): void {
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, environment);
}
