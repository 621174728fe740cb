import '../lib/shared/disable-node-version-warning.ts';
import { type DynamoDbLocal, startDynamoDbLocal } from '../local/dynamodb-local.ts';
import { createRunKeys } from './run-keys.ts';

declare global {
  var dynamoDbLocal: DynamoDbLocal | undefined;
  var deleteRunKeys: (() => Promise<void>) | undefined;
}

/**
 * Generates the keys of the run and starts one DynamoDB Local in memory for the tables without a stream. Tests find its address in `TEST_DYNAMODB_ENDPOINT`. A local
 * service starts its own: the stream records of other tables slow every call down, because DynamoDB Local has no index of them.
 */
// biome-ignore lint/style/noDefaultExport: jest calls the default export.
export default async function setUp(): Promise<void> {
  globalThis.dynamoDbLocal = await startDynamoDbLocal();
  process.env.TEST_DYNAMODB_ENDPOINT = globalThis.dynamoDbLocal.endpoint;
  globalThis.deleteRunKeys = await createRunKeys();
}
