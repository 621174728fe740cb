import { postToEngine } from './table-engine/post-to-engine.ts';

/** A shard of a stream. */
interface Shard {
  readonly ShardId: string;
  readonly ParentShardId?: string;
}

/** A record of the streams API. */
export interface WireRecord {
  readonly userIdentity?: object;
  readonly dynamodb: { readonly SequenceNumber: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

interface RecordsPage {
  readonly Records?: readonly WireRecord[];
  /** Missing after the last record of a closed shard. */
  readonly NextShardIterator?: string;
}

/** The streams API of a table engine. Every method throws an error with the response of the engine if it fails. */
export interface StreamsClient {
  listShards(streamArn: string): Promise<readonly Shard[]>;
  /** Returns the iterator of the oldest record. */
  getFirstIterator(streamArn: string, shardId: string): Promise<string | undefined>;
  getRecords(iterator: string): Promise<RecordsPage>;
}

/** Creates a client without the SDK: the readers of a stream call the engine after every write. */
export function createStreamsClient(endpoint: string): StreamsClient {
  const call = async <T>(operation: string, input: object): Promise<T> => {
    const { status, text } = await postToEngine(
      endpoint,
      `DynamoDBStreams_20120810.${operation}`,
      JSON.stringify(input),
    );
    if (status !== 200) throw new Error(`${operation}: ${status} ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    async listShards(StreamArn) {
      const shards: Shard[] = [];
      let ExclusiveStartShardId: string | undefined;
      do {
        const { StreamDescription } = await call<{
          readonly StreamDescription: { readonly Shards?: readonly Shard[]; readonly LastEvaluatedShardId?: string };
        }>('DescribeStream', { StreamArn, ExclusiveStartShardId });
        shards.push(...(StreamDescription.Shards ?? []));
        ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId;
      } while (ExclusiveStartShardId !== undefined);
      return shards;
    },
    async getFirstIterator(StreamArn, ShardId) {
      const input = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
      return (await call<{ readonly ShardIterator?: string }>('GetShardIterator', input)).ShardIterator;
    },
    getRecords: async (ShardIterator) => await call<RecordsPage>('GetRecords', { ShardIterator }),
  };
}
