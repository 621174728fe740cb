import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import type { TemplateNames } from './intrinsics.ts';
import { startupError } from './startup-error.ts';
import { listResources, type Template } from './template.ts';

const Attribute = v.object({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) });
const KeySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }));
const Projection = v.object({ ProjectionType: v.picklist(['ALL', 'KEYS_ONLY', 'INCLUDE']) });
const Table = v.object({
  AttributeDefinitions: v.array(Attribute),
  BillingMode: v.literal('PAY_PER_REQUEST'),
  KeySchema,
  GlobalSecondaryIndexes: v.optional(v.array(v.object({ IndexName: v.string(), KeySchema, Projection }))),
  StreamSpecification: v.optional(v.object({ StreamViewType: v.picklist(['NEW_AND_OLD_IMAGES']) })),
  TimeToLiveSpecification: v.optional(v.object({ AttributeName: v.string(), Enabled: v.boolean() })),
});
type Table = v.InferOutput<typeof Table>;

/** Creates the tables of a template that do not exist yet. */
export async function createTables(template: Template, names: TemplateNames, client: DynamoDBClient): Promise<void> {
  const tables = listResources(template, 'AWS::DynamoDB::Table', { properties: Table, names });
  for (const [id, table] of tables) await createTable(names.ref(id), table, client);
}

async function createTable(TableName: string, table: Table, client: DynamoDBClient): Promise<void> {
  const { StreamSpecification, TimeToLiveSpecification, ...properties } = table;
  const existing = await findTable(TableName, client);
  if (existing) {
    assertSameIndexes(existing, table);
    return;
  }
  await client.send(
    new CreateTableCommand({
      TableName,
      ...properties,
      ...(StreamSpecification && { StreamSpecification: { StreamEnabled: true, ...StreamSpecification } }),
    }),
  );
  if (TimeToLiveSpecification) await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
}

async function findTable(TableName: string, client: DynamoDBClient): Promise<TableDescription | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

function assertSameIndexes(existing: TableDescription, table: Table): void {
  const expected = listIndexNames(table.GlobalSecondaryIndexes);
  if (listIndexNames(existing.GlobalSecondaryIndexes) === expected) return;
  throw startupError(
    'The table in .local/ was created by a different version of Claimcheck. Delete .local/ and start again.',
  );
}

const listIndexNames = (indexes: readonly { IndexName?: string | undefined }[] = []): string =>
  indexes
    .map(({ IndexName }) => IndexName)
    .sort()
    .join();
