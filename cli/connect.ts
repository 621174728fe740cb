import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { ServiceError } from '../lib/errors.ts';
import { parseJson } from '../lib/parse.ts';

interface Connection {
  readonly local?: true;
  readonly table?: string;
  readonly masterKey?: string;
  readonly webhooksQueue?: string;
}

/** What `npm start` writes for commands that come from outside: the environment of its functions. */
const Runtime = v.object({ environment: v.record(v.string(), v.string()) });
const runtimeFile = '.local/runtime.json';

/** Points this process at a table: the local one, or a deployment's with the operator's own AWS credentials. */
export function connect({ local, table, masterKey, webhooksQueue }: Connection): void {
  if (local) Object.assign(process.env, localEnvironment());
  if (table) process.env.TABLE_NAME = table;
  if (masterKey) process.env.MASTER_KEY_ID = masterKey;
  if (webhooksQueue) process.env.WEBHOOKS_QUEUE_URL = webhooksQueue;
  if (!process.env.TABLE_NAME || !process.env.MASTER_KEY_ID) {
    throw new ServiceError(
      'InvalidPayload',
      'Say which service: --local, or --table and --master-key of a deployment.',
    );
  }
}

function localEnvironment(): Readonly<Record<string, string>> {
  try {
    return parseJson(Runtime, readFileSync(runtimeFile, 'utf8')).environment;
  } catch (cause) {
    throw new ServiceError('ConnectionFailed', 'No local service is running here: start it with npm start.', { cause });
  }
}
