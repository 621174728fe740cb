import { brotliDecompressSync } from 'node:zlib';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';

/** Scans the whole table and returns the items of one app as JSON, with the raw part of events decompressed. */
export async function dumpItems(table: string, appName: string): Promise<string[]> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const items: string[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) {
    const appItems = Items.filter(({ pk }) => String(pk).startsWith(`${appName}#`) || pk === `APP#${appName}`);
    items.push(...appItems.map(({ raw, ...item }) => JSON.stringify(item) + (raw ? decompress(raw) : '')));
  }
  return items;
}

const decompress = (raw: unknown): string =>
  raw instanceof Uint8Array ? brotliDecompressSync(raw).toString('utf8') : JSON.stringify(raw);
