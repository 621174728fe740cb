import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { ServiceError } from '../lib/foundation/errors.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { overrideDate } from '../lib/foundation/override-date.ts';
import { parseJson } from '../lib/foundation/parse.ts';

/** Options of the program that select a service. */
export interface ConnectionOptions {
  readonly local?: true;
  readonly folder: string;
  readonly stack?: string;
  readonly profile?: string;
  readonly region?: string;
  /** Replace the names of the stack outputs. */
  readonly table?: string;
  readonly masterKey?: string;
  readonly webhooksQueue?: string;
}

/** The file that `npm start` writes for commands: the environment of its functions. */
const Runtime = v.object({ environment: v.record(v.string(), v.string()) });
const runtimeFile = 'runtime.json';

/**
 * Sets the environment of this process to the local service, or to a deployment, which uses the operator's AWS
 * credentials. The process uses the time of the store emulator if there is one, like the functions.
 */
export async function connectToService(options: ConnectionOptions): Promise<void> {
  const { local, folder, table, masterKey, webhooksQueue } = options;
  selectCredentials(options);
  const stack = findStackName(options);
  if (local) Object.assign(process.env, readLocalEnvironment(folder));
  else if (stack !== undefined) Object.assign(process.env, await readStackEnvironment(stack, options));
  if (table) process.env.TABLE_NAME = table;
  if (masterKey) process.env.MASTER_KEY_ID = masterKey;
  if (webhooksQueue) process.env.WEBHOOKS_QUEUE_URL = webhooksQueue;
  if (!process.env.TABLE_NAME || !process.env.MASTER_KEY_ID)
    throw new InvalidArgumentError('Pass --local, --stack of a deployment, or --table and --master-key.');
  if (process.env.STORE_EMULATOR_URL) await adoptEmulatorTime(process.env.STORE_EMULATOR_URL);
}

/** Returns the options that select a service in addition to the given ones, or undefined without one. */
export function findSelection(options: ConnectionOptions): readonly string[] | undefined {
  const { local, table, folder } = options;
  if (local || table || findStackName(options) !== undefined || process.env.TABLE_NAME) return [];
  return existsSync(join(folder, runtimeFile)) ? ['--local'] : undefined;
}

/** Environment variables with credentials, which would take precedence over a profile or cause a warning. */
const credentialVariables = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

/** The AWS clients of all commands read these variables. */
export function selectCredentials({ profile, region }: ConnectionOptions): void {
  if (region !== undefined) process.env.AWS_REGION = region;
  if (profile === undefined) return;
  process.env.AWS_PROFILE = profile;
  for (const variable of credentialVariables) delete process.env[variable];
}

/** The table and the master key are enough, so CLAIMCHECK_STACK is not read in addition to them. */
const findStackName = ({ stack, table, masterKey }: ConnectionOptions): string | undefined =>
  stack ?? (table && masterKey ? undefined : process.env.CLAIMCHECK_STACK || undefined);

async function readStackEnvironment(
  stack: string,
  options: ConnectionOptions,
): Promise<Readonly<Record<string, string>>> {
  const { readStackOutputs, requireOutputs } = await import('./stack-outputs.ts');
  const outputs = await readStackOutputs(stack);
  requireOutputs(stack, outputs, {
    TableName: options.table,
    MasterKeyId: options.masterKey,
    WebhooksQueueUrl: options.webhooksQueue,
  });
  const { TableName, MasterKeyId, WebhooksQueueUrl, StreamFailuresQueueUrl, EventRetentionDays, RequestsPerKey } =
    outputs;
  return omitUndefined({
    TABLE_NAME: TableName,
    MASTER_KEY_ID: MasterKeyId,
    WEBHOOKS_QUEUE_URL: WebhooksQueueUrl,
    STREAM_FAILURES_QUEUE_URL: StreamFailuresQueueUrl,
    EVENT_RETENTION_DAYS: EventRetentionDays,
    REQUESTS_PER_KEY: RequestsPerKey,
    STACK_OUTPUTS: JSON.stringify(outputs),
  });
}

const EmulatorTime = v.object({ now: v.pipe(v.string(), v.transform(Date.parse), v.number()) });

/** Makes the process use the time of the store emulator. */
export async function adoptEmulatorTime(emulatorUrl: string): Promise<void> {
  const response = await fetch(`${emulatorUrl}/control/clock`).catch((cause: unknown) => {
    throw notRunningError(cause);
  });
  const offsetMs = parseJson(EmulatorTime, await response.text(), 'ConnectionFailed').now - Date.now();
  overrideDate(() => offsetMs);
}

function readLocalEnvironment(folder: string): Readonly<Record<string, string>> {
  try {
    return parseJson(Runtime, readFileSync(join(folder, runtimeFile), 'utf8')).environment;
  } catch (cause) {
    throw notRunningError(cause);
  }
}

export const notRunningError = (cause: unknown): ServiceError =>
  new ServiceError(
    'ConnectionFailed',
    'No local service is running. Start it with npm start. If it runs in another folder, pass its data folder with --folder.',
    { cause },
  );
