import {
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../shared/errors.ts';
import { indexes, type Key, tableKey } from './keys.ts';

export type Item = Record<string, unknown>;
export type Update = Omit<NonNullable<Write['Update']>, 'TableName'>;
export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Capacity units that the calls of one table object have used. */
interface CapacityUsage {
  read: number;
  write: number;
}

interface QueryRange {
  readonly partition: string;
  /** Only sort keys that start with it. */
  readonly prefix?: string;
  /** Only sort keys from the first to the second, both included. */
  readonly between?: readonly [string, string];
  /** Only sort keys before it, excluded. */
  readonly before?: string;
  readonly index?: keyof typeof indexes;
  readonly limit?: number;
  readonly newestFirst?: boolean;
  /** Half the read units, where an answer may be a moment behind. */
  readonly isEventuallyConsistent?: boolean;
}

/** The one table. Reads of items are strongly consistent unless told otherwise; failures are `DatabaseError`. */
export interface Table {
  readonly name: string;
  readonly consumed: CapacityUsage;
  get(key: Key): Promise<Item | undefined>;
  /** All items of the range, or the first `limit`. */
  query(range: QueryRange): Promise<Item[]>;
  /** The items that exist, in the order of the keys. */
  batchGet(keys: readonly Key[], reading?: Pick<QueryRange, 'isEventuallyConsistent'>): Promise<Item[]>;
  /** Puts items whose order and conditions do not matter, 25 in a call. */
  batchPut(items: readonly Item[]): Promise<void>;
  /** One write without a transaction's price. Throws `Conflict` when its condition fails. */
  update(update: Update): Promise<void>;
  /** All or nothing, at most 100 writes. Throws `Conflict` when a condition fails or another transaction is in the way. */
  transact(writes: readonly Write[]): Promise<void>;
}

/** The table behind a document client of its own. */
export function createTableClient(name: string): Table {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
    // Sums of micros outgrow 53 bits; as amounts are whole cents, a double still holds them without loss far beyond.
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    unmarshallOptions: { wrapNumbers: Number },
  });
  const consumed: CapacityUsage = { read: 0, write: 0 };
  const capacityOption = { ReturnConsumedCapacity: 'TOTAL' } as const;
  return {
    name,
    consumed,
    async get(key) {
      const response = await client
        .send(new GetCommand({ TableName: name, Key: key, ConsistentRead: true, ...capacityOption }))
        .catch(databaseError);
      countReads(consumed, response.ConsumedCapacity);
      return response.Item;
    },
    async query(range) {
      return await queryPages(
        client,
        { TableName: name, ...buildQueryInput(range), ...capacityOption },
        { consumed, limit: range.limit },
      );
    },
    async batchGet(keys, { isEventuallyConsistent = false } = {}) {
      const chunks = await Promise.all(
        splitIntoChunks(keys, 100).map((chunk) => getChunk(client, name, { chunk, consumed, isEventuallyConsistent })),
      );
      const found = new Map(chunks.flat().map((item): [string, Item] => [`${item.pk}\n${item.sk}`, item]));
      return keys.map(({ pk, sk }) => found.get(`${pk}\n${sk}`)).filter((item) => item !== undefined);
    },
    async batchPut(items) {
      await Promise.all(splitIntoChunks(items, 25).map((chunk) => putChunk(client, name, { chunk, consumed })));
    },
    async update(update) {
      const response = await client
        .send(new UpdateCommand({ TableName: name, ...update, ...capacityOption }))
        .catch(updateError);
      countWrites(consumed, response.ConsumedCapacity);
    },
    async transact(writes) {
      const response = await client
        .send(new TransactWriteCommand({ TransactItems: [...writes], ...capacityOption }))
        .catch(transactionError);
      for (const capacity of response.ConsumedCapacity ?? []) countWrites(consumed, capacity);
    },
  };
}

function buildQueryInput(range: QueryRange): Omit<QueryCommandInput, 'TableName'> {
  const { partition, index, limit, newestFirst, isEventuallyConsistent } = range;
  const names = index ? indexes[index] : tableKey;
  const [condition, values] = buildSortKeyCondition(range);
  return {
    ...(index ? { IndexName: index } : { ConsistentRead: !isEventuallyConsistent }),
    KeyConditionExpression: `#pk = :pk${condition}`,
    ExpressionAttributeNames: { '#pk': names.pk, ...(condition && { '#sk': names.sk }) },
    ExpressionAttributeValues: { ':pk': partition, ...values },
    ...(limit !== undefined && { Limit: limit }),
    ScanIndexForward: !newestFirst,
  };
}

/** A query takes one condition on the sort key, so of several only the first holds. */
function buildSortKeyCondition({ prefix, between, before }: QueryRange): [condition: string, values: Item] {
  if (between) return [' AND #sk BETWEEN :from AND :until', { ':from': between[0], ':until': between[1] }];
  if (prefix !== undefined) return [' AND begins_with(#sk, :prefix)', { ':prefix': prefix }];
  if (before !== undefined) return [' AND #sk < :before', { ':before': before }];
  return ['', {}];
}

async function queryPages(
  client: DynamoDBDocumentClient,
  input: QueryCommandInput,
  { consumed, limit }: { consumed: CapacityUsage; limit: number | undefined },
): Promise<Item[]> {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const response = await client
      .send(new QueryCommand({ ...input, ...(from && { ExclusiveStartKey: from }) }))
      .catch(databaseError);
    countReads(consumed, response.ConsumedCapacity);
    items.push(...(response.Items ?? []));
    from = response.LastEvaluatedKey;
  } while (from && (limit === undefined || items.length < limit));
  return limit === undefined ? items : items.slice(0, limit);
}

async function getChunk(
  client: DynamoDBDocumentClient,
  table: string,
  {
    chunk,
    consumed,
    isEventuallyConsistent,
  }: { chunk: readonly Key[]; consumed: CapacityUsage; isEventuallyConsistent: boolean },
): Promise<Item[]> {
  const items: Item[] = [];
  let requestItems: Record<string, { Keys: Item[]; ConsistentRead?: boolean }> = {
    [table]: { Keys: chunk.map(({ pk, sk }) => ({ pk, sk })), ConsistentRead: !isEventuallyConsistent },
  };
  for (let attempt = 0; Object.keys(requestItems).length > 0; attempt++) {
    await waitBeforeRetry(attempt);
    const response = await client
      .send(new BatchGetCommand({ RequestItems: requestItems, ReturnConsumedCapacity: 'TOTAL' }))
      .catch(databaseError);
    for (const capacity of response.ConsumedCapacity ?? []) countReads(consumed, capacity);
    items.push(...(response.Responses?.[table] ?? []));
    requestItems = (response.UnprocessedKeys ?? {}) as typeof requestItems;
  }
  return items;
}

async function putChunk(
  client: DynamoDBDocumentClient,
  table: string,
  { chunk, consumed }: { chunk: readonly Item[]; consumed: CapacityUsage },
): Promise<void> {
  let requestItems = { [table]: chunk.map((Item) => ({ PutRequest: { Item } })) };
  for (let attempt = 0; (requestItems[table]?.length ?? 0) > 0; attempt++) {
    await waitBeforeRetry(attempt);
    const response = await client
      .send(new BatchWriteCommand({ RequestItems: requestItems, ReturnConsumedCapacity: 'TOTAL' }))
      .catch(databaseError);
    for (const capacity of response.ConsumedCapacity ?? []) countWrites(consumed, capacity);
    requestItems = (response.UnprocessedItems ?? {}) as typeof requestItems;
  }
}

/** DynamoDB leaves items of a batch unprocessed when it is throttled: wait, then ask for the rest, six times at most. */
async function waitBeforeRetry(attempt: number): Promise<void> {
  if (attempt === 0) return;
  if (attempt > 6) throw new ServiceError('DatabaseError', 'The database is busy.');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * 2 ** attempt));
}

function databaseError(cause: unknown): never {
  throw new ServiceError('DatabaseError', 'The database could not be reached.', { cause });
}

function updateError(cause: unknown): never {
  if (!(cause instanceof ConditionalCheckFailedException)) databaseError(cause);
  throw new ServiceError('Conflict', 'Another operation changed the same data.', { cause });
}

function transactionError(cause: unknown): never {
  const reasons = cause instanceof TransactionCanceledException ? (cause.CancellationReasons ?? []) : [];
  const isConflict = reasons.some(({ Code }) => Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict');
  if (!isConflict) databaseError(cause);
  throw new ServiceError('Conflict', 'Another operation changed the same data.', { cause });
}

const countReads = (consumed: CapacityUsage, capacity: ConsumedCapacity | undefined): void => {
  consumed.read += capacity?.CapacityUnits ?? 0;
};
const countWrites = (consumed: CapacityUsage, capacity: ConsumedCapacity | undefined): void => {
  consumed.write += capacity?.CapacityUnits ?? 0;
};

const splitIntoChunks = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size));
