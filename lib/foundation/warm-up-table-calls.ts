import { Readable } from 'node:stream';
import type { AwsClientOptions } from './outgoing/aws-client.ts';
import { createTableClient, type Table } from './table.ts';

const key = { pk: 'warm-up', sk: 'warm-up' };
const update = {
  Key: key,
  UpdateExpression: 'SET #f = :f',
  ExpressionAttributeNames: { '#f': 'f' },
  ExpressionAttributeValues: { ':f': { list: [1, 'text', true] } },
};

/** A response with each type of attribute. */
const item = {
  pk: { S: key.pk },
  sk: { S: key.sk },
  map: { M: { list: { L: [{ N: '1' }, { BOOL: true }, { NULL: true }] } } },
  bytes: { B: 'AA==' },
};
const capacity = { CapacityUnits: 1 };
const filledResponses: Readonly<Record<string, object>> = {
  GetItem: { Item: item, ConsumedCapacity: capacity },
  Query: { Items: [item], Count: 1, ConsumedCapacity: capacity },
  BatchGetItem: { Responses: { 'warm-up': [item] }, UnprocessedKeys: {}, ConsumedCapacity: [capacity] },
  BatchWriteItem: { UnprocessedItems: {}, ConsumedCapacity: [capacity] },
};

interface HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
}

/** Creates a table without a connection. It is empty, unless `responses` has a response to an operation. */
export function createWarmUpTable(options: AwsClientOptions, responses: Readonly<Record<string, object>> = {}): Table {
  const requestHandler = {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle({ headers }: HttpRequest) {
      const operation = headers['x-amz-target']?.split('.')[1] ?? '';
      const body = Readable.from([Buffer.from(JSON.stringify(responses[operation] ?? {}))]);
      return { response: { statusCode: 200, headers: { 'content-type': 'application/x-amz-json-1.0' }, body } };
    },
  };
  return createTableClient('warm-up', { ...options, requestHandler });
}

/**
 * Runs the methods of the table without a connection, so that their code is compiled before the first request: most of
 * it is compiled at its first use.
 */
export async function warmUpTableCalls(options: AwsClientOptions): Promise<void> {
  const table = createWarmUpTable(options, filledResponses);
  await Promise.all([
    table.get(key),
    table.query({ partition: key.pk, prefix: 'r', limit: 1 }),
    table.batchGet([key]),
    table.batchPut([{ ...key, map: { list: [1, 'text', true, null] }, bytes: Buffer.alloc(1) }]),
    table.update(update),
    table.transact([{ Put: { TableName: 'warm-up', Item: key } }, { Update: { TableName: 'warm-up', ...update } }]),
  ]);
}
