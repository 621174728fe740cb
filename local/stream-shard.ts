import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as WireRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { SharedClock } from './shared-clock.ts';
import { deliverRecords, type StreamConsumer, type StreamRecord } from './stream-batch.ts';

/** How a function reads a stream. */
export interface ShardReaderOptions extends Omit<StreamConsumer, 'shardId'> {
  readonly client: StreamConsumer['client'];
  readonly streams: DynamoDBStreamsClient;
  readonly streamArn: string;
  readonly batchSize: number;
  readonly matches: (record: StreamRecord) => boolean;
  /** Length of a tumbling window; without one, events carry none. */
  readonly windowMs?: number;
  readonly clock: SharedClock;
}

const pollIntervalMs = 120;

/**
 * Reads a shard from its beginning to its end, which may never come. What was handled in an earlier run is handed over
 * again: the functions take a record twice as once, and a position that was kept could be wrong.
 */
export async function readShard(shardId: string, reading: ShardReaderOptions): Promise<void> {
  const { streams, streamArn, signal, batchSize } = reading;
  const window = createWindows(shardId, reading);
  const from = { StreamArn: streamArn, ShardId: shardId, ShardIteratorType: 'TRIM_HORIZON' as const };
  let { ShardIterator: iterator } = await streams.send(new GetShardIteratorCommand(from));
  while (iterator !== undefined && !signal.aborted) {
    const { Records = [], NextShardIterator } = await streams.send(new GetRecordsCommand({ ShardIterator: iterator }));
    const records = Records.map((record) => toLambdaRecord(record, streamArn)).filter(reading.matches);
    for (let start = 0; start < records.length; start += batchSize) {
      await window.deliver(records.slice(start, start + batchSize));
    }
    if (Records.length === 0) await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
    await window.endIfOver();
    iterator = NextShardIterator;
  }
}

/** Hands batches over with the window that they fall into, and ends a window when its time is over. */
function createWindows(shardId: string, reading: ShardReaderOptions) {
  const { windowMs, clock, handler } = reading;
  let open: { readonly start: number; state: unknown } | undefined;
  const startNow = (): number => Math.floor(clock.now() / (windowMs ?? 1)) * (windowMs ?? 1);
  const describeWindow = (isFinal: boolean) =>
    windowMs === undefined || !open
      ? {}
      : {
          window: { start: iso(open.start), end: iso(open.start + windowMs) },
          state: open.state,
          shardId,
          eventSourceARN: reading.streamArn,
          isFinalInvokeForWindow: isFinal,
          isWindowTerminatedEarly: false,
        };
  const endIfOver = async (): Promise<void> => {
    if (!open || open.start === startNow()) return;
    await handler.invoke(JSON.stringify({ Records: [], ...describeWindow(true) }));
    open = undefined;
  };
  return {
    endIfOver,
    async deliver(records: readonly StreamRecord[]): Promise<void> {
      if (windowMs !== undefined) {
        await endIfOver();
        open ??= { start: startNow(), state: {} };
      }
      const result = await deliverRecords(records, () => describeWindow(false), { ...reading, shardId });
      if (open) open.state = result?.state ?? open.state;
    },
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function toLambdaRecord({ dynamodb, ...record }: WireRecord, eventSourceARN: string): StreamRecord {
  const { ApproximateCreationDateTime: at, SequenceNumber = '', ...images } = dynamodb ?? {};
  return {
    ...record,
    eventSourceARN,
    dynamodb: {
      ...(withBase64(images) as object),
      SequenceNumber,
      ...(at && { ApproximateCreationDateTime: at.getTime() / 1000 }),
    },
  };
}

/** Lambda's events are JSON, in which bytes are base64. */
function withBase64(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(withBase64);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBase64(inner)]));
}
