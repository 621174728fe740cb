import { splitIntoChunks } from '../lib/foundation/batches.ts';
import type { SharedClock } from './shared-clock.ts';
import { sleep } from './sleep.ts';
import { deliverRecords, type StreamConsumer } from './stream-batch.ts';
import type { StreamRecord, StreamsClient, WireRecord } from './streams-client.ts';
import type { Wakeup } from './wakeup.ts';

export interface ShardReaderOptions extends Omit<StreamConsumer, 'shardId'> {
  readonly streams: StreamsClient;
  readonly streamArn: string;
  readonly batchSize: number;
  readonly matches: (record: StreamRecord) => boolean;
  /** Length of the tumbling window, if the function uses one. */
  readonly windowMs?: number;
  /** Time for which the function collects records, if it does. */
  readonly batchingWindowMs?: number;
  readonly clock: SharedClock;
  /** Wakes the readers after writes, after the deletion of expired items and after the clock is set. */
  readonly changes: Wakeup;
}

/** A write wakes the reader. The interval finds what a table engine writes at its own time. */
const pollIntervalMs = 30_000;

/**
 * Maximum time between two batches of a function that collects records. Unlike on Lambda, the first record does not
 * wait. After a batch of that many records, the next one is expected to be as large: fewer batches then write each
 * counter less often. After as many records as a batch can have, more are already stored, and the reader does not wait.
 */
const maxBatchIntervalMs = 500;
const maxBusyBatchIntervalMs = 2_000;
const busyBatchRecords = 25;

/**
 * Reads a shard from TRIM_HORIZON until it is closed. Records of an earlier run are delivered again: the functions are
 * idempotent, and a saved position could be wrong.
 */
export async function readShard(shardId: string, options: ShardReaderOptions, wait = sleep): Promise<void> {
  const { streams, streamArn, signal, batchSize, batchingWindowMs = 0, changes } = options;
  const window = createWindows(shardId, options);
  let iterator = await streams.getFirstIterator(streamArn, shardId);
  while (iterator !== undefined && !signal.aborted) {
    const { count } = changes;
    const { Records = [], NextShardIterator } = await streams.getRecords(iterator, count);
    const records = Records.map((record) => toLambdaRecord(record, streamArn)).filter(options.matches);
    for (const batch of splitIntoChunks(records, batchSize)) await window.deliver(batch);
    iterator = NextShardIterator;
    const maxIntervalMs = records.length < busyBatchRecords ? maxBatchIntervalMs : maxBusyBatchIntervalMs;
    if (records.length > 0 && Records.length < batchSize) await wait(Math.min(batchingWindowMs, maxIntervalMs), signal);
    if (Records.length === 0 && iterator !== undefined)
      await changes.wait(count, Math.min(pollIntervalMs, window.getRemainingMs()), signal);
    await window.closeElapsedWindow();
  }
}

/** Delivers batches with their tumbling window, and invokes the function a last time at the end of each window. */
function createWindows(shardId: string, options: ShardReaderOptions) {
  const { windowMs, clock, handler } = options;
  let open: { readonly start: number; state: unknown } | undefined;
  const getWindowStart = (): number => Math.floor(clock.now() / (windowMs ?? 1)) * (windowMs ?? 1);
  const describeWindow = (isFinal: boolean) =>
    windowMs === undefined || !open
      ? {}
      : {
          window: { start: toIsoDateTime(open.start), end: toIsoDateTime(open.start + windowMs) },
          state: open.state,
          shardId,
          eventSourceARN: options.streamArn,
          isFinalInvokeForWindow: isFinal,
          isWindowTerminatedEarly: false,
        };
  const closeElapsedWindow = async (): Promise<void> => {
    if (!open || open.start === getWindowStart()) return;
    await handler.invoke(JSON.stringify({ Records: [], ...describeWindow(true) }));
    open = undefined;
  };
  return {
    closeElapsedWindow,
    getRemainingMs: (): number =>
      open && windowMs !== undefined ? Math.max(0, open.start + windowMs - clock.now()) : Infinity,
    async deliver(records: readonly StreamRecord[]): Promise<void> {
      if (windowMs !== undefined) {
        await closeElapsedWindow();
        open ??= { start: getWindowStart(), state: {} };
      }
      const result = await deliverRecords(records, () => describeWindow(false), { ...options, shardId });
      if (open) open.state = result?.state ?? open.state;
    },
  };
}

const toIsoDateTime = (ms: number): string => new Date(ms).toISOString();

/**
 * Identity of TTL deletions, the only records with an identity.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
 */
const ttlIdentity = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };

/**
 * Converts a record of the streams API to the format of Lambda events, in which the members of `userIdentity` begin
 * with a lower-case letter. In the streams API, the engines differ in it.
 */
const toLambdaRecord = ({ userIdentity, ...record }: WireRecord, eventSourceARN: string): StreamRecord => ({
  ...record,
  ...(userIdentity && { userIdentity: ttlIdentity }),
  eventSourceARN,
});
