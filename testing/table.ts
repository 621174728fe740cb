import { CreateTableCommand, DynamoDBClient, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { indexes, tableKey } from '../lib/db/keys.ts';
import { createTableClient, type Table } from '../lib/db/table.ts';

/**
 * The table of the test run, on the real engine. Each test uses an application name of its own, so nothing is reset.
 * Also sets the environment in which handlers find it. Who goes through the items of all applications takes a table of its own.
 */
export async function createTestTable(name = 'claimcheck-test'): Promise<Table> {
  Object.assign(process.env, {
    TABLE_NAME: name,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: process.env.DYNAMODB_ENDPOINT,
  });
  await createTable(name);
  return createTableClient(name);
}

async function createTable(name: string): Promise<void> {
  const keys = [tableKey, ...Object.values(indexes)];
  const attributes = keys.flatMap(({ pk, sk }) => [pk, sk]);
  const schema = ({ pk, sk }: { pk: string; sk: string }) => [
    { AttributeName: pk, KeyType: 'HASH' as const },
    { AttributeName: sk, KeyType: 'RANGE' as const },
  ];
  const command = new CreateTableCommand({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: schema(tableKey),
    GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, index]) => ({
      IndexName,
      KeySchema: schema(index),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  });
  await new DynamoDBClient({}).send(command).catch((error: unknown) => {
    // Test files run side by side and the first one makes the table.
    if (!(error instanceof ResourceInUseException)) throw error;
  });
}
