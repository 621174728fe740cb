import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { indexes, tableKey } from '../lib/foundation/key.ts';
import { createTableClient, type Table } from '../lib/foundation/table.ts';

/**
 * Creates a table in the table engine if it does not exist, and sets the environment in which handlers find it. Tests
 * share the default table and use unique app names. A test that reads the items of all apps needs its own table name.
 */
export async function createTestTable(name = 'claimcheck-test'): Promise<Table> {
  const { TEST_DYNAMODB_ENDPOINT, DYNAMODB_ENDPOINT = TEST_DYNAMODB_ENDPOINT } = process.env;
  Object.assign(process.env, {
    TABLE_NAME: name,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: DYNAMODB_ENDPOINT,
  });
  await createTable(name);
  return createTableClient(name);
}

/** Deletes all items of a table that no other test uses. */
export async function emptyTestTable(name: string): Promise<void> {
  await new DynamoDBClient({}).send(new DeleteTableCommand({ TableName: name }));
  await createTable(name);
}

async function createTable(name: string): Promise<void> {
  const keys = [tableKey, ...Object.values(indexes)];
  const attributes = keys.flatMap(({ pk, sk }) => [pk, sk]);
  const toKeySchema = ({ pk, sk }: { pk: string; sk: string }) => [
    { AttributeName: pk, KeyType: 'HASH' as const },
    { AttributeName: sk, KeyType: 'RANGE' as const },
  ];
  const command = new CreateTableCommand({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: toKeySchema(tableKey),
    GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, index]) => ({
      IndexName,
      KeySchema: toKeySchema(index),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  });
  await new DynamoDBClient({}).send(command).catch((error: unknown) => {
    // Test files run in parallel; the first one creates the table.
    if (!(error instanceof ResourceInUseException)) throw error;
  });
}
