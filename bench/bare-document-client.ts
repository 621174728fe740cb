import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

/** A minimal function with a table: the baseline for the start times. */
export async function handler(): Promise<unknown> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  return await client.send(new GetCommand({ TableName: 'table', Key: { pk: 'pk', sk: 'sk' } }));
}
