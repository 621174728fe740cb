import { describe, expect, it } from '@jest/globals';
import { createTableClient, type Table } from '../../../lib/foundation/table.ts';
import { startHttpServer } from '../../../local/http-server.ts';
import { createTestTable } from '../../../testing/table.ts';

/** Makes a write to a table whose DynamoDB responds with an error. */
async function writeRejected(error: { readonly type: string }, write: (table: Table) => Promise<void>): Promise<void> {
  await createTestTable();
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
  const server = await startHttpServer((_request, response) => {
    const { type, ...details } = error;
    const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: type, ...details });
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
  });
  try {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = server.url;
    await write(createTableClient('any', { maxAttempts: 1 }));
  } finally {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint;
    await server.close();
  }
}

const update = { Key: { pk: 'a', sk: 'b' }, UpdateExpression: 'REMOVE c' };

/** Neither a message that advises a retry nor an unavailable table for `doctor`. */
const rejection = {
  code: 'InternalError',
  status: 500,
  message: 'An internal problem prevented processing.',
  isPermanent: true,
};

describe('update (table)', () => {
  it.each([
    ['ConditionalCheckFailedException', { code: 'Conflict', isPermanent: false }],
    ['TransactionConflictException', { code: 'Conflict', isPermanent: false }],
    ['ResourceNotFoundException', { code: 'DatabaseError', isPermanent: false }],
    ['ValidationException', rejection],
  ])('reports %s of DynamoDB', async (type, expected) => {
    const write = writeRejected({ type }, async (table) => await table.update(update));
    await expect(write).rejects.toMatchObject(expected);
  });
});

describe('transact (table)', () => {
  it.each([
    [['None', 'ConditionalCheckFailed'], { code: 'Conflict', isPermanent: false }],
    [['TransactionConflict', 'ValidationError'], { code: 'Conflict', isPermanent: false }],
    [['None', 'ThrottlingError'], { code: 'DatabaseError', isPermanent: false }],
    [['None', 'ValidationError'], rejection],
  ])('reports a transaction that DynamoDB cancels for %j', async (codes, expected) => {
    const error = { type: 'TransactionCanceledException', CancellationReasons: codes.map((Code) => ({ Code })) };
    const write = writeRejected(error, async (table) => {
      await table.transact([{ Update: { TableName: 'any', ...update } }]);
    });
    await expect(write).rejects.toMatchObject(expected);
  });
});
