import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { ServiceError } from '../lib/shared/errors.ts';
import { overrideDate } from '../lib/shared/override-date.ts';
import { parseJson } from '../lib/shared/parse.ts';

interface ConnectionOptions {
  readonly local?: true;
  /** Data folder of the local service. */
  readonly folder: string;
  readonly table?: string;
  readonly masterKey?: string;
  readonly webhooksQueue?: string;
}

/** The file that `npm start` writes for commands: the environment of its functions. */
const Runtime = v.object({ environment: v.record(v.string(), v.string()) });
const runtimeFile = 'runtime.json';

/**
 * Sets the environment of this process to the local service, or to a deployment, which uses the operator's AWS credentials.
 * The process uses the time of the store emulator if there is one, like the functions.
 */
export async function connectToService({
  local,
  folder,
  table,
  masterKey,
  webhooksQueue,
}: ConnectionOptions): Promise<void> {
  if (local) Object.assign(process.env, readLocalEnvironment(folder));
  if (table) process.env.TABLE_NAME = table;
  if (masterKey) process.env.MASTER_KEY_ID = masterKey;
  if (webhooksQueue) process.env.WEBHOOKS_QUEUE_URL = webhooksQueue;
  if (!process.env.TABLE_NAME || !process.env.MASTER_KEY_ID)
    throw new ServiceError('InvalidPayload', 'Pass --local, or --table and --master-key of a deployment.');
  if (process.env.STORE_EMULATOR_URL) await adoptEmulatorTime(process.env.STORE_EMULATOR_URL);
}

const EmulatorTime = v.object({ now: v.pipe(v.string(), v.transform(Date.parse), v.number()) });

async function adoptEmulatorTime(emulatorUrl: string): Promise<void> {
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

const notRunningError = (cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', 'No local service is running. Start it with npm start.', { cause });
