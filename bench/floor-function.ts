import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { registerWarmUp } from '../lib/foundation/warm-up.ts';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const { TABLE_NAME: TableName } = process.env;

const readItem = async (): Promise<unknown> =>
  await client.send(new GetCommand({ TableName, Key: { pk: 'floor', sk: 'floor' }, ConsistentRead: true }));

registerWarmUp(readItem);

/** Makes table calls in sequence and nothing else: a function with the tools of the service, without its code. */
export async function handler({ tableCalls }: { readonly tableCalls: number }): Promise<object> {
  for (let call = 0; call < tableCalls; call++) await readItem();
  return {};
}
