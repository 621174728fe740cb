import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getItemKind } from '../../../bench/units/item-kind.ts';
import { type Meter, startMeter } from '../../../bench/units/meter.ts';
import { buildWriteRows, sumUsage } from '../../../bench/units/usage.ts';
import { claimKey, eventKey, purchaseIndexKeys, purchaseKey } from '../../../lib/foundation/keys.ts';
import { createTestTable } from '../../../testing/table.ts';

let meter: Meter;
let TableName: string;
let client: DynamoDBDocumentClient;
beforeAll(async () => {
  TableName = (await createTestTable()).name;
  meter = await startMeter(process.env.TEST_DYNAMODB_ENDPOINT ?? '');
  client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: meter.endpoint }));
});
afterAll(async () => {
  client.destroy();
  await meter.close();
});

const takeUsage = () => {
  const { table, indexes, read } = sumUsage(meter.takeCalls());
  return { table, indexes, read };
};
const dates = { createdAt: 1, updatedAt: 1 };

describe('startMeter', () => {
  it('counts the written items and the condition checks of a transaction', async () => {
    const app = randomUUID();
    const Put = { TableName, Item: { ...purchaseKey(app, '1'), ...purchaseIndexKeys(app, '1', dates) } };
    const ConditionCheck = {
      TableName,
      Key: claimKey(app, '1', 'ann'),
      ConditionExpression: 'attribute_not_exists(pk)',
    };
    await client.send(new TransactWriteCommand({ TransactItems: [{ Put }, { ConditionCheck }] }));
    const calls = meter.takeCalls();
    expect(buildWriteRows('request', calls)).toMatchObject([
      { call: 'TransactWriteItems', item: 'purchase', table: 2, indexes: 2 },
      { call: '', item: 'claim', table: 2, indexes: 0 },
    ]);
  });

  it('counts the items before and after an update', async () => {
    const Item = { ...purchaseKey(randomUUID(), '1'), text: 'x'.repeat(3000), keyPk: 'list', keySk: '1' };
    const { pk, sk } = Item;
    await client.send(new BatchWriteCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item } }] } }));
    expect(takeUsage()).toEqual({ table: 3, indexes: 1, read: 0 });
    const change = { UpdateExpression: 'REMOVE #text SET keySk = :two', ExpressionAttributeNames: { '#text': 'text' } };
    await client.send(
      new UpdateCommand({ TableName, Key: { pk, sk }, ...change, ExpressionAttributeValues: { ':two': '2' } }),
    );
    expect(takeUsage()).toEqual({ table: 3, indexes: 2, read: 0 });
  });

  it('counts a failed condition in the table and not in the indexes', async () => {
    const Item = { ...purchaseKey(randomUUID(), '1'), createdPk: 'list', createdSk: '1' };
    const Put = { TableName, Item, ConditionExpression: 'attribute_exists(pk)' };
    const response = client.send(new TransactWriteCommand({ TransactItems: [{ Put }] }));
    await expect(response).rejects.toThrow('ConditionalCheckFailed');
    expect(takeUsage()).toEqual({ table: 2, indexes: 0, read: 0 });
  });

  it('counts half as much for eventually consistent reads', async () => {
    const Key = eventKey(randomUUID(), '1');
    await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
    expect(takeUsage()).toEqual({ table: 0, indexes: 0, read: 1 });
    await client.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key, { ...Key, sk: 'R' }] } } }));
    expect(takeUsage()).toEqual({ table: 0, indexes: 0, read: 1 });
    const range = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': Key.pk } };
    await client.send(new QueryCommand({ TableName, ...range }));
    expect(takeUsage()).toEqual({ table: 0, indexes: 0, read: 0.5 });
  });

  it('closes the connection of a call that gets no response from the engine', async () => {
    const stoppedEngine = createServer().listen(0, '127.0.0.1');
    await once(stoppedEngine, 'listening');
    const { port } = stoppedEngine.address() as AddressInfo;
    stoppedEngine.close();
    const unusedMeter = await startMeter(`http://127.0.0.1:${port}`);
    try {
      const call = fetch(unusedMeter.endpoint, { method: 'POST', body: JSON.stringify({ TableName }) });
      await expect(call).rejects.toThrow('fetch failed');
      expect(unusedMeter.takeCalls()).toEqual([]);
    } finally {
      await unusedMeter.close();
    }
  });
});

describe('getItemKind', () => {
  it('returns the kind of an item by its key', () => {
    expect(getItemKind(purchaseKey('app', 'store_a:1'))).toBe('purchase');
    expect(getItemKind(claimKey('app', 'store_a:1', 'ann'))).toBe('claim');
    expect(getItemKind({ pk: 'FX', sk: '2026-11-21' })).toBe('FX');
  });
});
