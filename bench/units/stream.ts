import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { workers } from '../../infra/worker-definitions.ts';
import { matchesPattern } from '../../local/event-filter.ts';
import type { MeteredCall, MeteredWrite } from './meter.ts';

/** A batch of one shard, as Lambda passes it to a stream worker. */
interface StreamBatch {
  readonly Records: readonly DynamoDBRecord[];
  readonly shardId: string;
}

type Handler = (event: StreamBatch) => Promise<DynamoDBBatchResponse>;

/** DynamoDB keeps the items of a partition key in one shard. It decides which partition keys share a shard. */
export type Sharding = 'one shard for all' | 'one shard for each partition key';

let recordCount = 0;

/** Invokes a worker with the stream records of the calls that match its event filter. */
export async function invokeStreamWorker(id: string, calls: readonly MeteredCall[], sharding: Sharding): Promise<void> {
  const { handler } = (await import(`../../functions/workers/${id}.ts`)) as { handler: Handler };
  const records = selectStreamRecords(id, calls);
  for (const shardId of new Set(records.map((record) => chooseShard(record, sharding)))) {
    const shardRecords = records.filter((record) => chooseShard(record, sharding) === shardId);
    const { batchItemFailures } = await handler({ Records: shardRecords, shardId });
    if (batchItemFailures.length > 0) throw new Error(`${id} failed to process records.`);
  }
}

/** Returns the stream records of the calls that match the event filter of a worker, in their order. */
export function selectStreamRecords(id: string, calls: readonly MeteredCall[]): DynamoDBRecord[] {
  const { streamPatterns } = getStreamSource(id);
  return calls
    .filter(({ isConditionFailed }) => !isConditionFailed)
    .flatMap(({ writes }) => writes.flatMap(toStreamRecord))
    .filter((record) => streamPatterns.some((pattern) => matchesPattern(record, pattern)));
}

/** Returns the stream options of a worker. */
function getStreamSource(id: string) {
  const source = workers.find((worker) => worker.id === id)?.source;
  if (!source || !('streamPatterns' in source)) throw new Error(`${id} does not read the stream.`);
  return source;
}

const chooseShard = ({ dynamodb }: DynamoDBRecord, sharding: Sharding): string =>
  sharding === 'one shard for all' ? 'shard' : `shard of ${dynamodb?.Keys?.pk?.S}`;

/** Returns the record of a write; empty if the write changed nothing. */
function toStreamRecord({ key: { pk, sk }, change: { before, after } }: MeteredWrite): DynamoDBRecord[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const record = {
    eventName: before && after ? 'MODIFY' : after ? 'INSERT' : 'REMOVE',
    dynamodb: {
      ApproximateCreationDateTime: Date.now() / 1000,
      SequenceNumber: String(10n ** 20n + BigInt(++recordCount)),
      Keys: { pk: { S: pk }, sk: { S: sk } },
      ...(after && { NewImage: after }),
      ...(before && { OldImage: before }),
    },
  };
  return [record as DynamoDBRecord];
}
