import { expect, it } from '@jest/globals';
import { createTableClient } from '../../../lib/foundation/table.ts';
import { startHttpServer } from '../../../local/http-server.ts';
import { createTestTable } from '../../../testing/table.ts';

it.each([
  ['ConditionalCheckFailedException', 'Conflict'],
  ['TransactionConflictException', 'Conflict'],
  ['ResourceNotFoundException', 'DatabaseError'],
])('update (table): reports %s of DynamoDB as %s', async (type, code) => {
  await createTestTable();
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
  const server = await startHttpServer((_request, response) => {
    const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: type });
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
  });
  try {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = server.url;
    const table = createTableClient('any', { maxAttempts: 1 });
    const update = { Key: { pk: 'a', sk: 'b' }, UpdateExpression: 'REMOVE c' };
    await expect(table.update(update)).rejects.toMatchObject({ code });
  } finally {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint;
    await server.close();
  }
});
