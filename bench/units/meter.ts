import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Key } from '../../lib/db/keys.ts';
import { countIndexUnits, countTableUnits, type ItemChange } from './capacity.ts';
import {
  countReadUnits,
  type DynamoDbRequest,
  type DynamoDbResponse,
  getReportedUnits,
  listWrittenItems,
  type WrittenItem,
} from './dynamodb-request.ts';
import type { ItemImage } from './item-size.ts';

/** What a call did to one item, and the units of that. */
export interface MeteredWrite {
  readonly key: Key;
  readonly change: ItemChange;
  readonly table: number;
  readonly index: number;
}

/** One call of the table. */
export interface MeteredCall {
  readonly operation: string;
  /** Whether a condition failed: that costs the table's units, too. */
  readonly isConditionFailed: boolean;
  readonly writes: readonly MeteredWrite[];
  readonly read: number;
  /** What the engine says that it used. */
  readonly engine: number;
}

/** Stands before DynamoDB Local and works out the units of each call from the items before and after it. */
export interface Meter {
  readonly endpoint: string;
  /** The calls since the last time. */
  takeCalls(): MeteredCall[];
  close(): Promise<void>;
}

/** Starts it. Calls go through one after the other, so that what an item was before a call is certain. */
export async function startMeter(engine: string): Promise<Meter> {
  let calls: MeteredCall[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const passed = turn.then(async () => await forwardCall(engine, request.headers, body));
    turn = passed.catch(() => {});
    const { status, text, call } = await passed;
    calls.push(call);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  });
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

async function forwardCall(engine: string, headers: IncomingHttpHeaders, body: string) {
  const [version = '', operation = ''] = String(headers['x-amz-target']).split('.');
  const ask: Ask = async (asked, text) => await fetch(engine, buildRequest(headers, `${version}.${asked}`, text));
  const request = JSON.parse(body) as DynamoDbRequest & { readonly TableName?: string };
  const addressees = listWrittenItems(operation, request);
  const images = async () => await readImages(addressees, { table: getTableName(request), ask });
  const before = await images();
  const response = await ask(operation, body);
  const text = await response.text();
  const seen = {
    before,
    after: await images(),
    isRefused: !response.ok,
    inTransaction: operation === 'TransactWriteItems',
  };
  const answer = response.ok ? (JSON.parse(text) as DynamoDbResponse) : {};
  const call: MeteredCall = {
    operation,
    isConditionFailed: seen.isRefused,
    writes: addressees.map((addressee) => meterWrite(addressee, seen)),
    read: countReadUnits(operation, request, answer),
    engine: getReportedUnits(answer),
  };
  return { status: response.status, text, call };
}

type Ask = (operation: string, body: string) => Promise<Response>;

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

/** The items as they are now, by name. */
async function readImages(
  addressees: readonly WrittenItem[],
  { table, ask }: { table: string; ask: Ask },
): Promise<ReadonlyMap<string, ItemImage>> {
  if (addressees.length === 0) return new Map();
  const Keys = addressees.map(({ key: { pk, sk } }) => ({ pk: { S: pk }, sk: { S: sk } }));
  const wanted = { RequestItems: { [table]: { Keys, ConsistentRead: true } } };
  const { Responses } = (await (await ask('BatchGetItem', JSON.stringify(wanted))).json()) as DynamoDbResponse;
  return new Map((Responses?.[table] ?? []).map((item) => [toItemName({ pk: item.pk?.S, sk: item.sk?.S }), item]));
}

const toItemName = ({ pk, sk }: { readonly [name in keyof Key]: string | undefined }): string => `${pk}\n${sk}`;

/** All calls are of one table. */
function getTableName({
  TableName,
  TransactItems,
  RequestItems,
}: DynamoDbRequest & { readonly TableName?: string }): string {
  const [write] = TransactItems ?? [];
  const [inTransaction] = Object.values(write ?? {}) as { readonly TableName?: string }[];
  return TableName ?? inTransaction?.TableName ?? Object.keys(RequestItems ?? {})[0] ?? '';
}

interface Images {
  readonly before: ReadonlyMap<string, ItemImage>;
  readonly after: ReadonlyMap<string, ItemImage>;
  readonly isRefused: boolean;
  readonly inTransaction: boolean;
}

function meterWrite({ key, put }: WrittenItem, { before, after, isRefused, inTransaction }: Images): MeteredWrite {
  const name = toItemName(key);
  const change = { before: before.get(name), after: after.get(name) };
  // A write that is refused costs as much as the larger of what is there and what was to be there.
  const counted = isRefused ? { before: change.before, after: put } : change;
  return {
    key,
    change,
    table: countTableUnits(counted, { inTransaction }),
    index: isRefused ? 0 : countIndexUnits(change),
  };
}
