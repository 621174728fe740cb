import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { ServiceError } from '../lib/shared/errors.ts';
import { parseJson } from '../lib/shared/parse.ts';
import { overrideDate } from '../local/override-date.ts';

interface Connection {
  readonly local?: true;
  /** Where the local service keeps its files. */
  readonly folder: string;
  readonly table?: string;
  readonly masterKey?: string;
  readonly webhooksQueue?: string;
}

/** What `npm start` writes for commands that come from outside: the environment of its functions. */
const Runtime = v.object({ environment: v.record(v.string(), v.string()) });
const runtimeFile = 'runtime.json';

/**
 * Points this process at a table: the local one, or a deployment's with the operator's own AWS credentials. Beside an
 * emulator of the stores it lives in the emulator's time, as the functions do.
 */
export async function connectToService({ local, folder, table, masterKey, webhooksQueue }: Connection): Promise<void> {
  if (local) Object.assign(process.env, readLocalEnvironment(folder));
  if (table) process.env.TABLE_NAME = table;
  if (masterKey) process.env.MASTER_KEY_ID = masterKey;
  if (webhooksQueue) process.env.WEBHOOKS_QUEUE_URL = webhooksQueue;
  if (!process.env.TABLE_NAME || !process.env.MASTER_KEY_ID) {
    throw new ServiceError(
      'InvalidPayload',
      'Say which service: --local, or --table and --master-key of a deployment.',
    );
  }
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
  new ServiceError('ConnectionFailed', 'No local service is running here: start it with npm start.', { cause });
