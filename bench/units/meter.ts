import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Key } from '../../lib/foundation/key.ts';
import { countIndexUnits, countTableUnits, type ItemChange } from './capacity.ts';
import {
  type DynamoDbRequest,
  type DynamoDbResponse,
  getReportedUnits,
  listReads,
  listWrittenItems,
  type MeteredRead,
  type WrittenItem,
} from './dynamodb-request.ts';
import type { ItemImage } from './item-size.ts';

/** The effect of a call on one item, with its write units. */
export interface MeteredWrite {
  readonly key: Key;
  readonly change: ItemChange;
  readonly table: number;
  readonly index: number;
}

/** One call to the database. */
export interface MeteredCall {
  readonly operation: string;
  /** A failed condition costs the same units in the table. */
  readonly isConditionFailed: boolean;
  readonly writes: readonly MeteredWrite[];
  readonly read: number;
  readonly reads: readonly MeteredRead[];
  /** Units that the database engine reports. */
  readonly engine: number;
}

/** A proxy of a table engine that computes the units of each call from the items before and after it. */
export interface Meter {
  readonly endpoint: string;
  /** Returns the calls since the previous `takeCalls`. */
  takeCalls(): MeteredCall[];
  close(): Promise<void>;
}

/** Starts the proxy. Forwards one call at a time, so no other call changes the items in between. */
export async function startMeter(engineUrl: string): Promise<Meter> {
  let calls: MeteredCall[] = [];
  let previousCall: Promise<unknown> = Promise.resolve();
  async function handleCall(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const forwarded = previousCall.then(async () => await forwardCall(engineUrl, request.headers, body));
    previousCall = forwarded.catch(() => {});
    const { status, text, call } = await forwarded;
    calls.push(call);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  }
  // The client gets the error as a closed connection: a function can send a call while the engine stops.
  const server = createServer(
    (request, response) => void handleCall(request, response).catch(() => response.destroy()),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeCalls: () => calls.splice(0),
    async close() {
      calls = [];
      server.close();
      server.closeAllConnections();
    },
  };
}

async function forwardCall(engineUrl: string, headers: IncomingHttpHeaders, body: string) {
  const [version = '', operation = ''] = String(headers['x-amz-target']).split('.');
  const sendCall: SendCall = async (name, text) =>
    await fetch(engineUrl, buildRequest(headers, `${version}.${name}`, text));
  const request = JSON.parse(body) as DynamoDbRequest & { readonly TableName?: string };
  const writtenItems = listWrittenItems(operation, request);
  const loadImages = async () => await readImages(writtenItems, { table: getTableName(request), sendCall });
  const before = await loadImages();
  const response = await sendCall(operation, body);
  const text = await response.text();
  const images = {
    before,
    after: await loadImages(),
    isConditionFailed: !response.ok,
    inTransaction: operation === 'TransactWriteItems',
  };
  const result = response.ok ? (JSON.parse(text) as DynamoDbResponse) : {};
  const reads = listReads(operation, request, result);
  const call: MeteredCall = {
    operation,
    isConditionFailed: images.isConditionFailed,
    writes: writtenItems.map((item) => meterWrite(item, images)),
    read: reads.reduce((sum, { units }) => sum + units, 0),
    reads,
    engine: getReportedUnits(result),
  };
  return { status: response.status, text, call };
}

type SendCall = (operation: string, body: string) => Promise<Response>;

const buildRequest = (headers: IncomingHttpHeaders, target: string, body: string) => ({
  method: 'POST',
  headers: {
    authorization: String(headers.authorization),
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-date': String(headers['x-amz-date']),
    'x-amz-target': target,
  },
  body,
});

/** Reads the current items, by `toItemName`. */
async function readImages(
  writtenItems: readonly WrittenItem[],
  { table, sendCall }: { table: string; sendCall: SendCall },
): Promise<ReadonlyMap<string, ItemImage>> {
  if (writtenItems.length === 0) return new Map();
  const Keys = writtenItems.map(({ key: { pk, sk } }) => ({ pk: { S: pk }, sk: { S: sk } }));
  const request = { RequestItems: { [table]: { Keys, ConsistentRead: true } } };
  const { Responses } = (await (await sendCall('BatchGetItem', JSON.stringify(request))).json()) as DynamoDbResponse;
  return new Map((Responses?.[table] ?? []).map((item) => [toItemName({ pk: item.pk?.S, sk: item.sk?.S }), item]));
}

const toItemName = ({ pk, sk }: { readonly [name in keyof Key]: string | undefined }): string => `${pk}\n${sk}`;

/** Each call accesses only one table. */
function getTableName({
  TableName,
  TransactItems,
  RequestItems,
}: DynamoDbRequest & { readonly TableName?: string }): string {
  const [write] = TransactItems ?? [];
  const [transactionWrite] = Object.values(write ?? {}) as { readonly TableName?: string }[];
  return TableName ?? transactionWrite?.TableName ?? Object.keys(RequestItems ?? {})[0] ?? '';
}

interface Images {
  readonly before: ReadonlyMap<string, ItemImage>;
  readonly after: ReadonlyMap<string, ItemImage>;
  readonly isConditionFailed: boolean;
  readonly inTransaction: boolean;
}

function meterWrite(
  { key, put }: WrittenItem,
  { before, after, isConditionFailed, inTransaction }: Images,
): MeteredWrite {
  const name = toItemName(key);
  const change = { before: before.get(name), after: after.get(name) };
  // A write with a failed condition costs as much as the larger of the existing and the new item.
  const charged = isConditionFailed ? { before: change.before, after: put } : change;
  return {
    key,
    change,
    table: countTableUnits(charged, { inTransaction }),
    index: isConditionFailed ? 0 : countIndexUnits(change),
  };
}
