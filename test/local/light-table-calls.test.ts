import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createUniqueName } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';

const TableName = createUniqueName('table');
let light: DynamoDBDocumentClient;
let sdk: DynamoDBDocumentClient;
beforeAll(async () => {
  await createTestTable(TableName);
  const options = {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    unmarshallOptions: { wrapNumbers: Number },
  };
  light = DynamoDBDocumentClient.from(new DynamoDBClient({}), { ...options });
  // An endpoint that is set explicitly is called by the SDK.
  const endpoint = `${process.env.TEST_DYNAMODB_ENDPOINT}`;
  sdk = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint }), { ...options });
});

// biome-ignore lint/suspicious/noExplicitAny: the commands have no common type that `send` accepts.
type Command = any;
type Outcome = Readonly<Record<string, unknown>>;

async function send(client: DynamoDBDocumentClient, command: Command): Promise<Outcome> {
  try {
    const { $metadata: _metadata, ...output } = (await client.send(command)) as { $metadata: object };
    return output;
  } catch (error) {
    const { name, message, CancellationReasons } = error as TransactionCanceledException;
    const classes = [ConditionalCheckFailedException, TransactionCanceledException];
    return { name, message, CancellationReasons, classes: classes.map((type) => error instanceof type) };
  }
}

const item = {
  pk: 'p',
  sk: 's',
  text: 'ü 🙂 "',
  empty: '',
  number: 12_345_678_901_234.5,
  no: false,
  nothing: null,
  list: [1, 'two', { three: [] }],
  map: { B: 'not binary', Key: { Items: [1] } },
  binary: Buffer.from([0, 1, 254, 255]),
  set: new Set(['a', 'b']),
  missing: undefined,
};
const keys = [
  { pk: 'p', sk: 's' },
  { pk: 'p', sk: 'none' },
];
const isAbsent = { ConditionExpression: 'attribute_not_exists(pk)' };
const capacity = { ReturnConsumedCapacity: 'TOTAL' } as const;
const query = {
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': 'p' },
  ConsistentRead: true,
};

/** Each command is sent by both clients to the same state. */
const commands: readonly [name: string, create: () => Command][] = [
  ['PutItem', () => new PutCommand({ TableName, Item: item, ...capacity })],
  ['PutItem with a failed condition', () => new PutCommand({ TableName, Item: item, ...isAbsent })],
  ['GetItem', () => new GetCommand({ TableName, Key: keys[0], ConsistentRead: true, ...capacity })],
  ['GetItem of a missing item', () => new GetCommand({ TableName, Key: keys[1] })],
  ['BatchWriteItem', () => new BatchWriteCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item: item } }] } })],
  ['BatchGetItem', () => new BatchGetCommand({ RequestItems: { [TableName]: { Keys: keys } }, ...capacity })],
  ['Query', () => new QueryCommand({ TableName, ...query })],
  ['Query with a limit', () => new QueryCommand({ TableName, ...query, Limit: 1, ...capacity })],
  ['Query of a further page', () => new QueryCommand({ TableName, ...query, ExclusiveStartKey: { pk: 'p', sk: 'r' } })],
  ['Scan', () => new ScanCommand({ TableName, ConsistentRead: true })],
  [
    'UpdateItem',
    () =>
      new UpdateCommand({
        TableName,
        Key: { pk: 'p', sk: 's' },
        UpdateExpression: 'SET #number = :number',
        ExpressionAttributeNames: { '#number': 'number' },
        ExpressionAttributeValues: { ':number': 7 },
        ReturnValues: 'ALL_NEW',
      }),
  ],
  ['TransactWriteItems', () => new TransactWriteCommand({ TransactItems: [{ Put: { TableName, Item: item } }] })],
  [
    'TransactWriteItems with a failed condition',
    () =>
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName, Item: item, ...isAbsent } },
          { Delete: { TableName, Key: { pk: 'q', sk: 'q' } } },
        ],
      }),
  ],
  ['DeleteItem', () => new DeleteCommand({ TableName, Key: { pk: 'p', sk: 'none' }, ReturnValues: 'ALL_OLD' })],
  ['a call of a missing table', () => new GetCommand({ TableName: 'missing', Key: { pk: 'p', sk: 's' } })],
  ['an invalid call', () => new GetCommand({ TableName, Key: { pk: 'p' } })],
];

describe('light table calls', () => {
  it.each(commands)('return the same as the SDK: %s', async (_name, createCommand) => {
    const expected = await send(sdk, createCommand());
    expect(await send(light, createCommand())).toEqual(expected);
  });
});
