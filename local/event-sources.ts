import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { fits } from './filter.ts';
import type { Names } from './intrinsics.ts';
import type { Closable } from './lifetimes.ts';
import type { LocalFunctions } from './local-functions.ts';
import { region } from './local-names.ts';
import { workOffQueue } from './queue-source.ts';
import type { SharedClock } from './shared-clock.ts';
import { readStream } from './stream-source.ts';
import { resourcesOf, type Template } from './template.ts';

const Mapping = v.object({
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
type Mapping = v.InferOutput<typeof Mapping>;

interface Machine {
  readonly names: Names;
  readonly functions: LocalFunctions;
  readonly database: DynamoDBClient;
  readonly databaseEndpoint: string;
  readonly queues: { readonly client: SQSClient; readonly urlOf: (name: string) => string };
  readonly clock: SharedClock;
  readonly log: (text: string) => void;
}

/** Connects the template's functions with the queues and streams that they work off. */
export async function connectSources(template: Template, machine: Machine): Promise<Closable> {
  const mappings = resourcesOf(template, 'AWS::Lambda::EventSourceMapping', {
    properties: Mapping,
    names: machine.names,
  });
  const sources = await Promise.all([...mappings.values()].map(async (mapping) => await connect(mapping, machine)));
  const closeThose = async (isStream: boolean): Promise<void> => {
    await Promise.all(sources.filter((source) => source.isStream === isStream).map((source) => source.close()));
  };
  return {
    // Streams first: their functions fill the queues, and what is in a stream waits there for the next start.
    close: async () => {
      await closeThose(true);
      await closeThose(false);
    },
  };
}

async function connect(mapping: Mapping, machine: Machine): Promise<Closable & { readonly isStream: boolean }> {
  const { functions, queues, clock, log } = machine;
  const arn = mapping.EventSourceArn;
  const work = functions.byName(mapping.FunctionName);
  if (!arn.startsWith('arn:aws:sqs:')) return { ...(await connectStream(mapping, machine)), isStream: true };
  const source = await workOffQueue({
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

const queueUrl = (arn: string, { queues }: Machine): string => queues.urlOf(arn.slice(arn.lastIndexOf(':') + 1));

async function connectStream(mapping: Mapping, machine: Machine): Promise<Closable> {
  const { functions, queues, clock, log, databaseEndpoint: endpoint } = machine;
  const patterns = mapping.FilterCriteria?.Filters.map(({ Pattern }) => Pattern);
  const { TumblingWindowInSeconds: window, DestinationConfig: destination, MaximumRecordAgeInSeconds: age } = mapping;
  return readStream({
    streams: new DynamoDBStreamsClient({
      endpoint,
      region,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
    streamArn: await streamOf(mapping.EventSourceArn, machine),
    work: functions.byName(mapping.FunctionName),
    name: mapping.FunctionName,
    batchSize: mapping.BatchSize,
    bisects: mapping.BisectBatchOnFunctionError,
    retries: mapping.MaximumRetryAttempts,
    fits: (record) => !patterns || patterns.some((pattern) => fits(record, pattern)),
    client: queues.client,
    ...(destination && { onFailure: queueUrl(destination.OnFailure.Destination, machine) }),
    ...(age !== undefined && { mostAgeMs: age * 1_000 }),
    ...(window !== undefined && { windowMs: window * 1_000 }),
    clock,
    log,
  });
}

/** The stream of the table that `{ "Fn::GetAtt": [table, "StreamArn"] }` names. */
async function streamOf(attribute: string, { names, database }: Machine): Promise<string> {
  const TableName = names.ref(attribute.replace(/\.StreamArn$/, ''));
  const { Table } = await database.send(new DescribeTableCommand({ TableName }));
  if (!Table?.LatestStreamArn) throw new Error(`The table ${TableName} has no stream.`);
  return Table.LatestStreamArn;
}
