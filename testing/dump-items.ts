import { brotliDecompressSync, inflateRawSync } from 'node:zlib';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { eventDictionary } from '../lib/events/event-table.ts';
import type { Item } from '../lib/foundation/table.ts';

/** Scans the whole table and returns the items of one app as JSON, with the compressed parts of events decompressed. */
export async function dumpItems(table: string, appName: string): Promise<string[]> {
  const items = await scanItems(table);
  return items.filter((item) => isOfApp(item, appName)).map(formatItem);
}

export const isOfApp = ({ pk }: Item, appName: string): boolean =>
  String(pk).startsWith(`${appName}#`) || pk === `APP#${appName}`;

/** Scans all items of the table. */
export async function scanItems(table: string): Promise<Item[]> {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const items: Item[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true }))
    items.push(...Items);
  return items;
}

/** Returns an item as JSON, with members in alphabetical order and the compressed parts of an event decompressed. */
export const formatItem = ({ raw, packed, ...item }: Item): string =>
  JSON.stringify(item, sortMembers) +
  (raw ? decompress(raw) : '') +
  (packed instanceof Uint8Array ? inflateRawSync(packed, { dictionary: eventDictionary }).toString('utf8') : '');

/** A table engine can return the attributes of an item in another order with each read. */
const sortMembers = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const decompress = (raw: unknown): string =>
  raw instanceof Uint8Array ? brotliDecompressSync(raw).toString('utf8') : JSON.stringify(raw);
