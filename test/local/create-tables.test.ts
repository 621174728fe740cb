import { randomUUID } from 'node:crypto';
import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createTables } from '../../local/create-tables.ts';
import { createLocalNames } from '../../local/local-names.ts';
import type { Template } from '../../local/template.ts';
import { createTestTable } from '../../testing/table.ts';

beforeAll(async () => {
  await createTestTable();
});

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
const index = (IndexName: string) => ({
  IndexName,
  KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
  Projection: { ProjectionType: 'KEYS_ONLY' },
});
const templateWith = (...indexes: string[]): Template => ({
  Resources: {
    Things: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        AttributeDefinitions: [text('pk'), text('owner')],
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        GlobalSecondaryIndexes: indexes.map(index),
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    },
  },
});

describe('createTables', () => {
  it('creates a table with its indexes, stream and TTL', async () => {
    const [client, template] = [new DynamoDBClient({}), templateWith('byOwner')];
    const names = createLocalNames(template, { run: `test-${randomUUID()}`, getQueueUrl: (name) => name });
    await createTables(template, names, client);
    const TableName = names.ref('Things');
    const [{ Table }, { TimeToLiveDescription }] = await Promise.all([
      client.send(new DescribeTableCommand({ TableName })),
      client.send(new DescribeTimeToLiveCommand({ TableName })),
    ]);
    expect(Table?.GlobalSecondaryIndexes).toMatchObject([index('byOwner')]);
    expect(Table?.StreamSpecification).toMatchObject({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: 'ttl', TimeToLiveStatus: 'ENABLED' });
  });

  it('keeps an existing table and rejects one with other indexes', async () => {
    const [client, template] = [new DynamoDBClient({}), templateWith('byOwner')];
    const names = createLocalNames(template, { run: `test-${randomUUID()}`, getQueueUrl: (name) => name });
    await createTables(template, names, client);
    await createTables(template, names, client);
    await expect(createTables(templateWith('byOwner', 'byDate'), names, client)).rejects.toThrow('Delete .local/');
  });
});
