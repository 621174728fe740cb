import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { matchesPattern } from './event-filter.ts';
import type { TemplateNames } from './intrinsics.ts';
import type { LocalFunctions } from './local-functions.ts';
import { region } from './local-names.ts';
import { pollQueue } from './queue-source.ts';
import type { SharedClock } from './shared-clock.ts';
import type { Closable } from './shutdown.ts';
import { consumeStream } from './stream-source.ts';
import { listResources, type Template } from './template.ts';

const EventSourceMapping = v.object({
  EventSourceArn: v.string(),
  FunctionName: v.string(),
  BatchSize: v.optional(v.number(), 10),
  BisectBatchOnFunctionError: v.optional(v.boolean(), false),
  MaximumRetryAttempts: v.optional(v.number(), 10_000),
  MaximumRecordAgeInSeconds: v.optional(v.number()),
  TumblingWindowInSeconds: v.optional(v.number()),
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
  readonly log: (text: string) => void;
}

/** Connects the template's functions with the queues and streams that they work off. */
export async function connectEventSources(template: Template, machine: LocalRuntime): Promise<Closable> {
  const mappings = listResources(template, 'AWS::Lambda::EventSourceMapping', {
    properties: EventSourceMapping,
    names: machine.names,
  });
  const sources = await Promise.all([...mappings.values()].map(async (mapping) => await connect(mapping, machine)));
  const closeSources = async (isStream: boolean): Promise<void> => {
    await Promise.all(sources.filter((source) => source.isStream === isStream).map((source) => source.close()));
  };
  return {
    // Streams first: their functions fill the queues, and what is in a stream waits there for the next start.
    close: async () => {
      await closeSources(true);
      await closeSources(false);
    },
  };
}

async function connect(
  mapping: EventSourceMapping,
  machine: LocalRuntime,
): Promise<Closable & { readonly isStream: boolean }> {
  const { functions, queues, clock, log } = machine;
  const arn = mapping.EventSourceArn;
  const work = functions.getByName(mapping.FunctionName);
  if (!arn.startsWith('arn:aws:sqs:')) return { ...(await connectStream(mapping, machine)), isStream: true };
  const source = await pollQueue({
    url: queueUrl(arn, machine),
    arn,
    batchSize: mapping.BatchSize,
    work,
    client: queues.client,
    clock,
    log,
  });
  return { ...source, isStream: false };
}

const queueUrl = (arn: string, { queues }: LocalRuntime): string => queues.getUrl(arn.slice(arn.lastIndexOf(':') + 1));

async function connectStream(mapping: EventSourceMapping, machine: LocalRuntime): Promise<Closable> {
  const { functions, queues, clock, log, databaseEndpoint: endpoint } = machine;
  const patterns = mapping.FilterCriteria?.Filters.map(({ Pattern }) => Pattern);
  const { TumblingWindowInSeconds: window, DestinationConfig: destination, MaximumRecordAgeInSeconds: age } = mapping;
  return consumeStream({
    streams: new DynamoDBStreamsClient({
      endpoint,
      region,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
    streamArn: await findStreamArn(mapping.EventSourceArn, machine),
    handler: functions.getByName(mapping.FunctionName),
    name: mapping.FunctionName,
    batchSize: mapping.BatchSize,
    bisectOnError: mapping.BisectBatchOnFunctionError,
    maxRetries: mapping.MaximumRetryAttempts,
    matches: (record) => !patterns || patterns.some((pattern) => matchesPattern(record, pattern)),
    client: queues.client,
    ...(destination && { onFailure: queueUrl(destination.OnFailure.Destination, machine) }),
    ...(age !== undefined && { maxRecordAgeMs: age * 1_000 }),
    ...(window !== undefined && { windowMs: window * 1_000 }),
    clock,
    log,
  });
}

/** The stream of the table that `{ "Fn::GetAtt": [table, "StreamArn"] }` names. */
async function findStreamArn(attribute: string, { names, database }: LocalRuntime): Promise<string> {
  const TableName = names.ref(attribute.replace(/\.StreamArn$/, ''));
  const { Table } = await database.send(new DescribeTableCommand({ TableName }));
  if (!Table?.LatestStreamArn) throw new Error(`The table ${TableName} has no stream.`);
  return Table.LatestStreamArn;
}
