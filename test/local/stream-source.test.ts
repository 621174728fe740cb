import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../emulator/test/notification-receiver.ts';
import { matchesPattern } from '../../local/event-filter.ts';
import type { InvocationResult } from '../../local/local-function.ts';
import { type QueueServer, startQueueServer } from '../../local/queue-server.ts';
import { createSharedClock, type SharedClock } from '../../local/shared-clock.ts';
import type { Closable } from '../../local/shutdown.ts';
import { consumeStream } from '../../local/stream-source.ts';
import { createStreamsClient } from '../../local/streams-client.ts';
import { startTableEngine } from '../../local/table-engine/start-table-engine.ts';
import type { TableEngine } from '../../local/table-engine/table-engine.ts';
import { createWakeup } from '../../local/wakeup.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Wakes the readers of all tests. */
const changes = createWakeup();
let engine: TableEngine;
let database: DynamoDBClient;
let queues: QueueServer;
beforeAll(async () => {
  engine = await startTableEngine({
    expirationIntervalMs: 100,
    onExpiration: changes.wake,
    hasStreams: true,
  });
  database = new DynamoDBClient({ endpoint: engine.endpoint, region: 'eu-west-1', credentials });
  queues = await startQueueServer();
});
afterAll(async () => {
  database?.destroy();
  await queues?.close();
  await engine?.close();
});

interface Batch {
  readonly Records: readonly {
    readonly dynamodb: { readonly SequenceNumber: string; readonly NewImage: { readonly pk: { readonly S: string } } };
  }[];
  readonly shardId?: string;
  readonly state?: object;
  readonly isFinalInvokeForWindow?: boolean;
}
const names = ({ Records }: Batch): string[] => Records.map(({ dynamodb }) => dynamodb.NewImage.pk.S);

interface Reading {
  readonly bisects?: boolean;
  readonly retries?: number;
  readonly mostAgeMs?: number;
  readonly pattern?: object;
  readonly windowMs?: number;
  readonly clock?: SharedClock;
}

/** Creates a table and consumes its stream with `handle`. */
async function stream(handle: (batch: Batch) => InvocationResult, options: Reading = {}) {
  const TableName = `stream-${randomUUID()}`;
  await database.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  const { Table } = await database.send(new DescribeTableCommand({ TableName }));
  const { QueueUrl: onFailure = '' } = await queues.client.send(new CreateQueueCommand({ QueueName: TableName }));
  const { clock = createSharedClock(), pattern, bisects = false, retries = 1, mostAgeMs, windowMs } = options;
  clock.onSet(changes.wake);
  const source: Closable = consumeStream({
    changes,
    streams: createStreamsClient(engine.endpoint),
    streamArn: Table?.LatestStreamArn ?? '',
    handler: { invoke: async (payload) => handle(JSON.parse(payload)) },
    name: 'reader',
    batchSize: 10,
    bisectOnError: bisects,
    maxRetries: retries,
    matches: (record) => !pattern || matchesPattern(record, pattern),
    client: queues.client,
    onFailure,
    ...(mostAgeMs !== undefined && { maxRecordAgeMs: mostAgeMs }),
    ...(windowMs !== undefined && { windowMs }),
    clock,
    log: () => {},
  });
  const put = async (...pks: string[]) => {
    for (const pk of pks) await database.send(new PutItemCommand({ TableName, Item: { pk: { S: pk } } }));
    changes.wake();
  };
  /** Puts an item that the table engine deletes within seconds. */
  const putExpired = async (pk: string) => {
    const TimeToLiveSpecification = { AttributeName: 'ttl', Enabled: true };
    await database.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    const ttl = { N: String(Math.floor(Date.now() / 1_000) - 60) };
    await database.send(new PutItemCommand({ TableName, Item: { pk: { S: pk }, ttl } }));
  };
  const failures = async () =>
    (await queues.client.send(new ReceiveMessageCommand({ QueueUrl: onFailure }))).Messages ?? [];
  return { put, putExpired, failures, close: source.close };
}

describe('consumeStream', () => {
  it('delivers matching records, including those from before its start', async () => {
    const seen: string[] = [];
    const pattern = { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: 'a' }] } } } };
    const reader = await stream(
      (batch) => {
        seen.push(...names(batch));
        return { result: '{"batchItemFailures":[]}' };
      },
      { pattern },
    );
    await reader.put('a1', 'b1', 'a2', 'a1');
    await waitUntil(() => seen.length === 2);
    await reader.put('a3');
    await waitUntil(() => seen.length === 3);
    await reader.close();
    expect([...seen].sort()).toEqual(['a1', 'a2', 'a3']);
  });

  it('names DynamoDB as the user of a TTL deletion, as in Lambda events', async () => {
    const seen: unknown[] = [];
    const reader = await stream(
      (batch) => {
        seen.push(...batch.Records);
        return { result: 'null' };
      },
      { pattern: { eventName: ['REMOVE'] } },
    );
    await reader.putExpired('event');
    await waitUntil(() => seen.length === 1);
    await reader.close();
    const userIdentity = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };
    expect(seen).toEqual([expect.objectContaining({ eventName: 'REMOVE', userIdentity })]);
    expect(matchesPattern(seen[0], { userIdentity: { principalId: [{ exists: false }] } })).toBe(false);
  });

  it('retries from the first record in batchItemFailures', async () => {
    const seen: string[] = [];
    let refused = 0;
    const reader = await stream((batch) => {
      const bad = batch.Records.find(({ dynamodb }) => dynamodb.NewImage.pk.S === 'bad');
      const isRefused = bad !== undefined && refused++ < 1;
      const taken = isRefused ? batch.Records.slice(0, batch.Records.indexOf(bad)) : batch.Records;
      seen.push(...names({ Records: taken }));
      const failures = isRefused ? [{ itemIdentifier: bad.dynamodb.SequenceNumber }] : [];
      return { result: JSON.stringify({ batchItemFailures: failures }) };
    });
    await reader.put('one', 'bad', 'two');
    await waitUntil(() => seen.length === 3);
    await reader.close();
    expect([...seen].sort()).toEqual(['bad', 'one', 'two']);
  });

  it('discards a record that always fails and reports it to the failure queue', async () => {
    const seen: string[] = [];
    const reader = await stream(
      (batch) => {
        if (names(batch).includes('poison')) return { error: 'Error: poison', requestId: 'the-last-call' };
        seen.push(...names(batch));
        return { result: 'null' };
      },
      { bisects: true },
    );
    await reader.put('one', 'two', 'poison', 'three', 'four');
    await waitUntil(() => seen.length === 4);
    const [failure] = await reader.failures();
    await reader.close();
    const number = expect.stringMatching(/^\d+$/);
    const second = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const { DDBStreamBatchInfo, ...message } = JSON.parse(failure?.Body ?? '{}');
    expect(message).toEqual({
      requestContext: {
        requestId: 'the-last-call',
        functionArn: 'arn:aws:lambda:eu-west-1:000000000000:function:reader',
        condition: 'RetryAttemptsExhausted',
        approximateInvokeCount: 2,
      },
      responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
      version: '1.0',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(DDBStreamBatchInfo).toEqual({
      shardId: expect.stringMatching(/^shardId-/),
      startSequenceNumber: number,
      endSequenceNumber: DDBStreamBatchInfo.startSequenceNumber,
      approximateArrivalOfFirstRecord: second,
      approximateArrivalOfLastRecord: DDBStreamBatchInfo.approximateArrivalOfFirstRecord,
      batchSize: 1,
      streamArn: expect.stringMatching(/:table\/stream-.+\/stream\//),
    });
  });

  it('discards a failing record that exceeds the maximum age', async () => {
    const seen: string[] = [];
    const reader = await stream(
      (batch) => {
        if (names(batch).includes('bad')) return { error: 'It failed.' };
        seen.push(...names(batch));
        return { result: '{"batchItemFailures":[]}' };
      },
      { bisects: true, retries: 10_000, mostAgeMs: 0 },
    );
    await reader.put('bad', 'good');
    await waitUntil(() => seen.length === 1);
    expect(seen).toEqual(['good']);
    expect(await reader.failures()).toHaveLength(1);
    await reader.close();
  });

  it('reports discarded records of a partial failure without a function error', async () => {
    const reader = await stream(({ Records }) => {
      const batchItemFailures = Records.map(({ dynamodb }) => ({ itemIdentifier: dynamodb.SequenceNumber }));
      return { result: JSON.stringify({ batchItemFailures }) };
    });
    await reader.put('one');
    let failure: Message | undefined;
    await waitUntil(async () => {
      [failure] = await reader.failures();
      return failure !== undefined;
    });
    await reader.close();
    const { responseContext } = JSON.parse(failure?.Body ?? '{}');
    expect(responseContext).toEqual({ statusCode: 200, executedVersion: '$LATEST' });
  });

  it('passes the window state between batches and closes the window at its end', async () => {
    const clock = createSharedClock();
    const events: Batch[] = [];
    const reader = await stream(
      (batch) => {
        events.push(batch);
        return { result: JSON.stringify({ state: { seen: names(batch).at(-1) }, batchItemFailures: [] }) };
      },
      { windowMs: 60_000, clock },
    );
    await reader.put('one');
    await waitUntil(() => events.length === 1);
    clock.set(clock.now() + 120_000);
    await waitUntil(() => events.some(({ isFinalInvokeForWindow }) => isFinalInvokeForWindow));
    await reader.close();
    expect(events[0]).toMatchObject({ state: {}, isFinalInvokeForWindow: false });
    expect(events[0]?.shardId).toMatch(/^shardId-/);
    expect(events[1]).toMatchObject({ Records: [], state: { seen: 'one' }, isFinalInvokeForWindow: true });
  });
});
