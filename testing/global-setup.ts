import '../lib/shared/disable-node-version-warning.ts';
import { type DynamoDbLocal, startDynamoDbLocal } from '../local/dynamodb-local.ts';

declare global {
  var dynamoDbLocal: DynamoDbLocal | undefined;
}

/** Starts one DynamoDB Local in memory for the test run. Tests find its address in `DYNAMODB_ENDPOINT`. */
// biome-ignore lint/style/noDefaultExport: jest calls the default export.
export default async function setUp(): Promise<void> {
  globalThis.dynamoDbLocal = await startDynamoDbLocal();
  process.env.DYNAMODB_ENDPOINT = globalThis.dynamoDbLocal.endpoint;
}
