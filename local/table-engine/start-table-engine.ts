import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startupError } from '../startup-error.ts';
import { assertJavaInstalled, dynamoDbLocalFolder, startDynamoDbLocal } from './dynamodb-local.ts';
import { dynoxideFolder, findDynoxide, startDynoxide } from './dynoxide.ts';
import type { TableEngine, TableEngineOptions } from './table-engine.ts';

/**
 * Starts a table engine and waits until it responds. Uses the first of: the server at `DYNAMODB_ENDPOINT`, the engine
 * that `TABLE_ENGINE` names, Dynoxide of the npm package or on the PATH, DynamoDB Local with Java.
 */
export async function startTableEngine(options: TableEngineOptions = {}): Promise<TableEngine> {
  const { DYNAMODB_ENDPOINT } = process.env;
  if (DYNAMODB_ENDPOINT) return { endpoint: DYNAMODB_ENDPOINT, ended: new Promise(() => {}), close: async () => {} };
  const binary = chooseDynoxide(process.env.TABLE_ENGINE);
  assertSameEngine(options, binary !== undefined);
  return binary === undefined ? await startDynamoDbLocal(options) : await startDynoxide(binary, options);
}

/** Throws a `StartupError` if no table engine is installed. Starts no process. */
export function assertEngineInstalled(): void {
  const { DYNAMODB_ENDPOINT, TABLE_ENGINE } = process.env;
  if (!DYNAMODB_ENDPOINT && chooseDynoxide(TABLE_ENGINE) === undefined) assertJavaInstalled();
}

/**
 * Returns the binary of Dynoxide, or undefined for DynamoDB Local. Throws a `StartupError` if the named engine is
 * unavailable.
 */
function chooseDynoxide(name: string | undefined): string | undefined {
  switch (name) {
    case 'dynamodb-local':
      return undefined;
    case 'dynoxide': {
      const binary = findDynoxide();
      if (binary !== undefined) return binary;
      throw startupError('TABLE_ENGINE is dynoxide, but there is no dynoxide in the npm packages or on the PATH.');
    }
    case undefined:
    case '':
      return findDynoxide();
    default:
      throw startupError(`TABLE_ENGINE ${name} is not valid: set dynoxide or dynamodb-local.`);
  }
}

/** Throws a `StartupError` if the data folder has the data of the other engine only: the tables would be empty. */
function assertSameEngine({ directory }: TableEngineOptions, isDynoxide: boolean): void {
  if (directory === undefined) return;
  const [own, other] = isDynoxide ? [dynoxideFolder, dynamoDbLocalFolder] : [dynamoDbLocalFolder, dynoxideFolder];
  if (existsSync(join(directory, own)) || !existsSync(join(directory, other))) return;
  const otherEngine = isDynoxide ? 'dynamodb-local' : 'dynoxide';
  throw startupError(
    `${join(directory, other)} has the data of another table engine. Start with TABLE_ENGINE=${otherEngine}, or delete ${directory} and start again.`,
  );
}
