import { postToEngine } from './table-engine/post-to-engine.ts';

interface Shard {
  readonly ShardId: string;
  readonly ParentShardId?: string;
}

export interface WireRecord {
  readonly userIdentity?: object;
  readonly dynamodb: {
    readonly SequenceNumber: string;
    /** Epoch seconds. */
    readonly ApproximateCreationDateTime?: number;
    readonly [member: string]: unknown;
  };
  readonly [member: string]: unknown;
}

/** In the format of Lambda events. */
export interface StreamRecord extends WireRecord {
  readonly eventSourceARN: string;
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
  /** `writeCount` increases with each write: a page from before a write is not returned after it. */
  getRecords(iterator: string, writeCount: number): Promise<RecordsPage>;
}

/** A page that several readers get. Without records, it is shared only while it is read. */
interface SharedPage {
  readonly page: Promise<RecordsPage>;
  readonly writeCount: number;
  hasRecords?: boolean;
}

/** Pages that are kept for the other readers of a shard, which is more than they are apart. */
const maxPages = 50;

/**
 * Creates a client without the SDK: the readers of a stream call the engine after every write. They share its calls:
 * the readers of a shard that are at the same position get the same page.
 */
export function createStreamsClient(endpoint: string): StreamsClient {
  const iterators = new Map<string, Promise<{ readonly ShardIterator?: string }>>();
  const pages = new Map<string, SharedPage>();
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
      const key = `${StreamArn} ${ShardId}`;
      const iterator = iterators.get(key) ?? call<{ readonly ShardIterator?: string }>('GetShardIterator', input);
      iterators.set(key, iterator);
      iterator.catch(() => iterators.delete(key));
      return (await iterator).ShardIterator;
    },
    async getRecords(ShardIterator, writeCount) {
      const existing = pages.get(ShardIterator);
      if (existing && (existing.hasRecords || existing.writeCount === writeCount)) return await existing.page;
      const shared: SharedPage = { writeCount, page: call<RecordsPage>('GetRecords', { ShardIterator }) };
      pages.set(ShardIterator, shared);
      const [oldest] = pages.keys();
      if (pages.size > maxPages && oldest !== undefined) pages.delete(oldest);
      try {
        const page = await shared.page;
        shared.hasRecords = (page.Records ?? []).length > 0;
        return page;
      } catch (error) {
        // The reader begins again, and the iterators can have expired.
        iterators.clear();
        throw error;
      } finally {
        // The iterator of the end of a shard can stay the same.
        if (!shared.hasRecords && pages.get(ShardIterator) === shared) pages.delete(ShardIterator);
      }
    },
  };
}
