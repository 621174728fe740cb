import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { matchesPattern } from './event-filter.ts';
import type { TemplateNames } from './intrinsics.ts';
import type { LocalFunctions } from './local-functions.ts';
import { pollQueue } from './queue-source.ts';
import type { SharedClock } from './shared-clock.ts';
import type { Closable } from './shutdown.ts';
import { consumeStream } from './stream-source.ts';
import { createStreamsClient, type StreamsClient } from './streams-client.ts';
import { listResources, type Template } from './template.ts';
import type { Wakeup } from './wakeup.ts';

const EventSourceMapping = v.object({
  EventSourceArn: v.string(),
  FunctionName: v.string(),
  BatchSize: v.optional(v.number(), 10),
  BisectBatchOnFunctionError: v.optional(v.boolean(), false),
  MaximumRetryAttempts: v.optional(v.number(), 10_000),
  MaximumRecordAgeInSeconds: v.optional(v.number()),
  TumblingWindowInSeconds: v.optional(v.number()),
  MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
  DestinationConfig: v.optional(v.object({ OnFailure: v.object({ Destination: v.string() }) })),
  FilterCriteria: v.optional(v.object({ Filters: v.array(v.object({ Pattern: v.pipe(v.string(), v.parseJson()) })) })),
});
type EventSourceMapping = v.InferOutput<typeof EventSourceMapping>;

interface LocalRuntime {
  readonly names: TemplateNames;
  readonly functions: LocalFunctions;
  readonly database: DynamoDBClient;
  readonly databaseEndpoint: string;
  readonly queues: { readonly client: SQSClient; readonly getUrl: (name: string) => string };
  readonly clock: SharedClock;
  /** See `ShardReaderOptions`. */
  readonly changes: Wakeup;
  readonly log: (text: string) => void;
}

/** Connects the functions of a template to their queues and streams. */
export async function connectEventSources(template: Template, runtime: LocalRuntime): Promise<Closable> {
  const { names, databaseEndpoint } = runtime;
  const streams = createStreamsClient(databaseEndpoint);
  const resources = listResources(template, 'AWS::Lambda::EventSourceMapping', {
    properties: EventSourceMapping,
    names,
  });
  const mappings = [...resources.values()];
  const isQueue = ({ EventSourceArn }: EventSourceMapping): boolean => EventSourceArn.startsWith('arn:aws:sqs:');
  const queueSources = await Promise.all(
    mappings.filter(isQueue).map(async (mapping) => await connectQueue(mapping, runtime)),
  );
  const streamSources = await Promise.all(
    mappings
      .filter((mapping) => !isQueue(mapping))
      .map(async (mapping) => await connectStream(mapping, template, { ...runtime, streams })),
  );
  return {
    // Streams first: their functions enqueue messages. Unread stream records are read after the next start.
    close: async () => {
      await Promise.all(streamSources.map((source) => source.close()));
      await Promise.all(queueSources.map((source) => source.close()));
    },
  };
}

const connectQueue = async (
  { EventSourceArn: arn, FunctionName, BatchSize: batchSize }: EventSourceMapping,
  { functions, queues: { client, getUrl }, clock, log }: LocalRuntime,
): Promise<Closable> =>
  await pollQueue({
    url: toQueueUrl(arn, getUrl),
    arn,
    batchSize,
    handler: functions.get(FunctionName),
    client,
    clock,
    log,
  });

const toQueueUrl = (arn: string, getUrl: (name: string) => string): string =>
  getUrl(arn.slice(arn.lastIndexOf(':') + 1));

async function connectStream(
  mapping: EventSourceMapping,
  template: Template,
  runtime: LocalRuntime & { readonly streams: StreamsClient },
): Promise<Closable> {
  const { functions, queues, clock, changes, log, streams } = runtime;
  const patterns = mapping.FilterCriteria?.Filters.map(({ Pattern }) => Pattern);
  const { TumblingWindowInSeconds: window, DestinationConfig: destination, MaximumRecordAgeInSeconds: age } = mapping;
  return consumeStream({
    streams,
    streamArn: await findStreamArn(findTableName(mapping.EventSourceArn, template, runtime), runtime),
    handler: functions.get(mapping.FunctionName),
    name: mapping.FunctionName,
    batchSize: mapping.BatchSize,
    bisectOnError: mapping.BisectBatchOnFunctionError,
    maxRetries: mapping.MaximumRetryAttempts,
    matches: (record) => !patterns || patterns.some((pattern) => matchesPattern(record, pattern)),
    client: queues.client,
    ...(destination && { onFailure: toQueueUrl(destination.OnFailure.Destination, queues.getUrl) }),
    ...(age !== undefined && { maxRecordAgeMs: age * 1_000 }),
    ...(window !== undefined && { windowMs: window * 1_000 }),
    batchingWindowMs: mapping.MaximumBatchingWindowInSeconds * 1_000,
    clock,
    changes,
    log,
  });
}

/** A custom resource that describes an adopted table: infra/table.ts. */
const TableDescription = v.object({
  Create: v.pipe(
    v.string(),
    v.parseJson(),
    v.object({ action: v.literal('describeTable'), parameters: v.object({ TableName: v.string() }) }),
  ),
});

/**
 * Finds the table of a stream in `{ "Fn::GetAtt": [table, "StreamArn"] }`, or `[description, "Table.LatestStreamArn"]`
 * for an adopted table.
 */
function findTableName(attribute: string, template: Template, { names }: LocalRuntime): string {
  const [id = ''] = attribute.split('.');
  const descriptions = listResources(template, 'Custom::AWS', { properties: TableDescription, names });
  return descriptions.get(id)?.Create.parameters.TableName ?? names.ref(id);
}

async function findStreamArn(TableName: string, { database }: LocalRuntime): Promise<string> {
  const { Table } = await database.send(new DescribeTableCommand({ TableName }));
  if (!Table?.LatestStreamArn) throw new Error(`The table ${TableName} has no stream.`);
  return Table.LatestStreamArn;
}
