import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { workers } from '../../infra/workers.ts';
import { matchesPattern } from '../../local/event-filter.ts';
import type { MeteredCall, MeteredWrite } from './meter.ts';

type Handler = (event: {
  readonly Records: readonly DynamoDBRecord[];
  readonly shardId: string;
}) => Promise<DynamoDBBatchResponse>;

/** The items that share a partition key are in one shard; which others are in the same one is up to DynamoDB. */
export type Sharding = 'one shard for all' | 'one shard for each partition key';

let position = 0;

/** Shows a worker what calls have written, of it what the stack's filter lets through. */
export async function invokeStreamWorker(id: string, calls: readonly MeteredCall[], sharding: Sharding): Promise<void> {
  const source = workers.find((worker) => worker.id === id)?.source;
  if (!source || !('streamPatterns' in source)) throw new Error(`${id} does not read the stream.`);
  const { handler } = (await import(`../../functions/workers/${id}.ts`)) as { handler: Handler };
  const records = calls
    .filter(({ isConditionFailed }) => !isConditionFailed)
    .flatMap(({ writes }) => writes.flatMap(toStreamRecord))
    .filter((record) => source.streamPatterns.some((pattern) => matchesPattern(record, pattern)));
  for (const shardId of new Set(records.map((record) => chooseShard(record, sharding)))) {
    const own = records.filter((record) => chooseShard(record, sharding) === shardId);
    const { batchItemFailures } = await handler({ Records: own, shardId });
    if (batchItemFailures.length > 0) throw new Error(`${id} gave records back.`);
  }
}

const chooseShard = ({ dynamodb }: DynamoDBRecord, sharding: Sharding): string =>
  sharding === 'one shard for all' ? 'shard' : `shard of ${dynamodb?.Keys?.pk?.S}`;

/** The record of a write; none of a write that changed nothing. */
function toStreamRecord({ key: { pk, sk }, change: { before, after } }: MeteredWrite): DynamoDBRecord[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const record = {
    eventName: before && after ? 'MODIFY' : after ? 'INSERT' : 'REMOVE',
    dynamodb: {
      ApproximateCreationDateTime: Date.now() / 1000,
      SequenceNumber: String(10n ** 20n + BigInt(++position)),
      Keys: { pk: { S: pk }, sk: { S: sk } },
      ...(after && { NewImage: after }),
      ...(before && { OldImage: before }),
    },
  };
  return [record as DynamoDBRecord];
}
