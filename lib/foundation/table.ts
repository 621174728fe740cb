import {
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  DynamoDBClient,
  type DynamoDBClientConfig,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { splitIntoChunks } from './batches.ts';
import { ServiceError } from './errors.ts';
import { indexes, type Key, tableKey } from './key.ts';
import { createAwsSigner } from './outgoing/aws-client.ts';

export type Item = Record<string, unknown>;
export type Update = Omit<NonNullable<Write['Update']>, 'TableName'>;
type Deletion = Omit<NonNullable<Write['Delete']>, 'TableName'>;
export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Capacity units that the calls of one table object have consumed. */
interface CapacityUsage {
  read: number;
  write: number;
}

interface QueryRange {
  readonly partition: string;
  /** Selects sort keys that start with it. */
  readonly prefix?: string;
  /** Selects sort keys from the first to the second, both included. */
  readonly between?: readonly [string, string];
  /** Selects sort keys less than it. */
  readonly before?: string;
  readonly index?: keyof typeof indexes;
  readonly limit?: number;
  readonly newestFirst?: boolean;
  /** Selects items after this one, which an earlier query of the same range returned. */
  readonly after?: Item | undefined;
  /** Half the read units; the result can be stale. */
  readonly isEventuallyConsistent?: boolean;
}

/**
 * The one table. Reads of items are strongly consistent by default. Every method throws `DatabaseError` if DynamoDB
 * fails, and a permanent `InternalError` if it rejects the request.
 */
export interface Table {
  readonly name: string;
  readonly consumed: CapacityUsage;
  get(key: Key): Promise<Item | undefined>;
  /** Returns all items of the range, or the first `limit`. */
  query(range: QueryRange): Promise<Item[]>;
  /** Returns the items that exist, in the order of the keys. */
  batchGet(keys: readonly Key[], options?: Pick<QueryRange, 'isEventuallyConsistent'>): Promise<Item[]>;
  /** Puts items without condition and in any order, 25 in a request. */
  batchPut(items: readonly Item[]): Promise<void>;
  /** Deletes items without condition and in any order, 25 in a request. Ignores missing items. */
  batchDelete(keys: readonly Key[]): Promise<void>;
  /**
   * Makes one conditional write, at half the price of a transaction. Throws `Conflict` if the condition fails or a
   * transaction interferes.
   */
  update(update: Update): Promise<void>;
  /** Deletes one item on a condition, at half the price of a transaction. Throws `Conflict` if the condition fails. */
  delete(deletion: Deletion): Promise<void>;
  /** Makes at most 100 writes atomically. Throws `Conflict` if a condition fails or another transaction interferes. */
  transact(writes: readonly Write[]): Promise<void>;
}

/**
 * Maximum number of writes in a transaction.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
 */
export const maxTransactionWrites = 100;

// `BatchGetItem` and `BatchWriteItem` accept at most so many items in a request.
const maxBatchGetItems = 100;
const maxBatchWriteItems = 25;

/** Sums of micros exceed 53 bits. Amounts are whole cents, so a double represents them exactly far beyond that. */
export const unmarshallOptions = { wrapNumbers: Number };

/**
 * Steps of the SDK that each call would pay for: copies for a logger, which the client lacks, the headers `user-agent`
 * and `x-amzn-trace-id`, which DynamoDB does not use, and `content-length`, which Node sets.
 */
const unusedMiddleware = [
  'loggerMiddleware',
  'getUserAgentMiddleware',
  'recursionDetectionMiddleware',
  'contentLengthMiddleware',
  'hostHeaderMiddleware',
];

/** Creates the table client. */
export function createTableClient(name: string, options: DynamoDBClientConfig = {}): Table {
  const baseClient: DynamoDBClient = new DynamoDBClient({
    ...options,
    signer: createAwsSigner('dynamodb', () => baseClient.config),
  });
  const client = DynamoDBDocumentClient.from(baseClient, {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    // Copied, because the client adds a member to the object.
    unmarshallOptions: { ...unmarshallOptions },
  });
  // V8 keeps the members of an object in a hash table unless it is a prototype, and four steps of each call copy the
  // configuration: without this, a call takes a quarter more CPU time on Node 20, and a tenth more on Node 24.
  // https://v8.dev/blog/fast-properties
  Object.create(client.config);
  for (const name of unusedMiddleware) client.middlewareStack.remove(name);
  const consumed: CapacityUsage = { read: 0, write: 0 };
  const capacityOption = { ReturnConsumedCapacity: 'TOTAL' } as const;
  const writeBatches = async (requests: readonly WriteRequest[]): Promise<void> => {
    await Promise.all(
      splitIntoChunks(requests, maxBatchWriteItems).map((chunk) => writeChunk(client, name, { chunk, consumed })),
    );
  };
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
        splitIntoChunks(keys, maxBatchGetItems).map((chunk) =>
          getChunk(client, name, { chunk, consumed, isEventuallyConsistent }),
        ),
      );
      const itemsByKey = new Map(chunks.flat().map((item): [string, Item] => [`${item.pk}\n${item.sk}`, item]));
      return keys.map(({ pk, sk }) => itemsByKey.get(`${pk}\n${sk}`)).filter((item) => item !== undefined);
    },
    async batchPut(items) {
      await writeBatches(items.map((Item) => ({ PutRequest: { Item } })));
    },
    async batchDelete(keys) {
      await writeBatches(keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })));
    },
    async update(update) {
      const response = await client
        .send(new UpdateCommand({ TableName: name, ...update, ...capacityOption }))
        .catch(writeError);
      countWrites(consumed, response.ConsumedCapacity);
    },
    async delete(deletion) {
      const response = await client
        .send(new DeleteCommand({ TableName: name, ...deletion, ...capacityOption }))
        .catch(writeError);
      countWrites(consumed, response.ConsumedCapacity);
    },
    async transact(writes) {
      const response = await client
        .send(new TransactWriteCommand({ TransactItems: [...writes], ...capacityOption }))
        .catch(writeError);
      for (const capacity of response.ConsumedCapacity ?? []) countWrites(consumed, capacity);
    },
  };
}

function buildQueryInput(range: QueryRange): Omit<QueryCommandInput, 'TableName'> {
  const { partition, index, limit, newestFirst, after, isEventuallyConsistent } = range;
  const names = index ? indexes[index] : tableKey;
  const [condition, values] = buildSortKeyCondition(range);
  return {
    ...(index ? { IndexName: index } : { ConsistentRead: !isEventuallyConsistent }),
    KeyConditionExpression: `#pk = :pk${condition}`,
    ExpressionAttributeNames: { '#pk': names.pk, ...(condition && { '#sk': names.sk }) },
    ExpressionAttributeValues: { ':pk': partition, ...values },
    ...(limit !== undefined && { Limit: limit }),
    ScanIndexForward: !newestFirst,
    ...(after && { ExclusiveStartKey: pickKeys(after, [...Object.values(tableKey), ...Object.values(names)]) }),
  };
}

const pickKeys = (item: Item, names: readonly string[]): Item =>
  Object.fromEntries(names.map((name) => [name, item[name]]));

/** A query accepts one condition on the sort key: the first that is set takes precedence. */
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
  let startKey: Item | undefined;
  do {
    const response = await client
      .send(new QueryCommand({ ...input, ...(startKey && { ExclusiveStartKey: startKey }) }))
      .catch(databaseError);
    countReads(consumed, response.ConsumedCapacity);
    items.push(...(response.Items ?? []));
    startKey = response.LastEvaluatedKey;
  } while (startKey && (limit === undefined || items.length < limit));
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

type WriteRequest = { readonly PutRequest: { Item: Item } } | { readonly DeleteRequest: { Key: Item } };

async function writeChunk(
  client: DynamoDBDocumentClient,
  table: string,
  { chunk, consumed }: { chunk: readonly WriteRequest[]; consumed: CapacityUsage },
): Promise<void> {
  let requestItems = { [table]: [...chunk] };
  for (let attempt = 0; (requestItems[table]?.length ?? 0) > 0; attempt++) {
    await waitBeforeRetry(attempt);
    const response = await client
      .send(new BatchWriteCommand({ RequestItems: requestItems, ReturnConsumedCapacity: 'TOTAL' }))
      .catch(databaseError);
    for (const capacity of response.ConsumedCapacity ?? []) countWrites(consumed, capacity);
    requestItems = (response.UnprocessedItems ?? {}) as typeof requestItems;
  }
}

const maxBatchRetries = 6;

/**
 * Waits with exponential backoff and jitter: DynamoDB returns the items of a batch unprocessed if it is throttled.
 * Throws `DatabaseError` after six retries.
 */
async function waitBeforeRetry(attempt: number): Promise<void> {
  if (attempt === 0) return;
  if (attempt > maxBatchRetries) throw new ServiceError('DatabaseError', 'The database is throttled. Try again later.');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * 2 ** attempt));
}

/**
 * A write that DynamoDB does not accept, alone or as a part of a transaction, fails again: for example an item of more
 * than 400 KB. The database is available then.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
function databaseError(cause: unknown): never {
  const isInvalid = cause instanceof Error && cause.name === 'ValidationException';
  if (isInvalid || listCancellationCodes(cause).includes('ValidationError'))
    throw ServiceError.fromUnknown(cause, true);
  throw new ServiceError('DatabaseError', 'The database is unavailable. Try again later.', { cause });
}

/** A write of one item also fails while a transaction with this item is in progress. */
function writeError(cause: unknown): never {
  const codes = listCancellationCodes(cause);
  const isConflict =
    cause instanceof ConditionalCheckFailedException ||
    cause instanceof TransactionConflictException ||
    codes.includes('ConditionalCheckFailed') ||
    codes.includes('TransactionConflict');
  if (!isConflict) databaseError(cause);
  throw new ServiceError('Conflict', 'The data was changed by a concurrent request. Try again.', { cause });
}

const listCancellationCodes = (cause: unknown) =>
  cause instanceof TransactionCanceledException ? (cause.CancellationReasons ?? []).map(({ Code }) => Code) : [];

const countReads = (consumed: CapacityUsage, capacity: ConsumedCapacity | undefined): void => {
  consumed.read += capacity?.CapacityUnits ?? 0;
};
const countWrites = (consumed: CapacityUsage, capacity: ConsumedCapacity | undefined): void => {
  consumed.write += capacity?.CapacityUnits ?? 0;
};
