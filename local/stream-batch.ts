import { randomUUID } from 'node:crypto';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import type { LocalFunction } from './local-function.ts';
import { sleep } from './sleep.ts';
import { buildFailureMessage, type StreamFailure } from './stream-failure.ts';
import type { StreamRecord } from './streams-client.ts';

/** The consumer of a shard and its failure handling. */
export interface StreamConsumer {
  readonly handler: LocalFunction;
  readonly name: string;
  readonly shardId: string;
  readonly bisectOnError: boolean;
  readonly maxRetries: number;
  /** Failing records older than this are discarded. */
  readonly maxRecordAgeMs?: number;
  /** URL of the queue for discarded records (`OnFailure` destination). */
  readonly onFailure?: string;
  readonly client: SQSClient;
  readonly signal: AbortSignal;
  readonly log: (text: string) => void;
}

/** Returns the members of the event that describe its tumbling window. */
export type GetWindow = () => Readonly<Record<string, unknown>>;

const BatchResponse = v.nullable(
  v.looseObject({ batchItemFailures: v.optional(v.array(v.object({ itemIdentifier: v.string() })), []) }),
);

/**
 * Invokes the function with records, in order, until it has handled all of them. Retries from the first failed record,
 * bisects a batch that fails as a whole, and discards records after the last retry or the maximum age. Returns the
 * function's last result.
 */
export async function deliverRecords(
  records: readonly StreamRecord[],
  window: GetWindow,
  options: StreamConsumer,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  let remaining = records;
  let attempt = 0;
  while (remaining.length > 0 && !options.signal.aborted) {
    const invocation = await options.handler.invoke(JSON.stringify({ Records: remaining, ...window() }));
    const response = 'result' in invocation ? v.safeParse(BatchResponse, JSON.parse(invocation.result)) : undefined;
    const failed = response?.success
      ? takeFromFirstFailure(remaining, response.output?.batchItemFailures ?? [])
      : remaining;
    if (failed.length === 0) return (response?.output ?? undefined) as Readonly<Record<string, unknown>> | undefined;
    if ('error' in invocation) options.log(`${invocation.error}\n`);
    if (failed.length < remaining.length) attempt = 0;
    remaining = failed;
    attempt++;
    if (options.bisectOnError && remaining.length > 1 && !response?.success)
      return await deliverHalves(remaining, window, options);
    const discarded = attempt > options.maxRetries ? remaining : findExpiredRecords(remaining, options);
    if (discarded.length > 0) {
      const { requestId = randomUUID() } = invocation;
      const { shardId, name } = options;
      const isError = !response?.success;
      await sendToFailureQueue(
        { records: discarded, shardId, name, requestId, invocations: attempt, isError },
        options,
      );
      remaining = remaining.slice(discarded.length);
      attempt = 0;
      continue;
    }
    await sleep(Math.min(5_000, 100 * 2 ** attempt), options.signal);
  }
  return undefined;
}

async function deliverHalves(records: readonly StreamRecord[], window: GetWindow, options: StreamConsumer) {
  const middle = Math.ceil(records.length / 2);
  await deliverRecords(records.slice(0, middle), window, options);
  return await deliverRecords(records.slice(middle), window, options);
}

/** Returns the records from the first failed one. Lambda ignores the other ids in `batchItemFailures`. */
function takeFromFirstFailure(
  records: readonly StreamRecord[],
  failures: readonly { readonly itemIdentifier: string }[],
): readonly StreamRecord[] {
  const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
  const first = records.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber));
  return first === -1 ? [] : records.slice(first);
}

/** Returns the leading records that exceed the maximum age. Records are in order of age. */
function findExpiredRecords(
  records: readonly StreamRecord[],
  { maxRecordAgeMs }: StreamConsumer,
): readonly StreamRecord[] {
  if (maxRecordAgeMs === undefined) return [];
  const oldest = Date.now() - maxRecordAgeMs;
  const isYoung = ({ dynamodb }: StreamRecord) => (dynamodb.ApproximateCreationDateTime ?? 0) * 1_000 > oldest;
  const young = records.findIndex(isYoung);
  return young === -1 ? records : records.slice(0, young);
}

async function sendToFailureQueue(failure: StreamFailure, { onFailure, client, log }: StreamConsumer): Promise<void> {
  log(`${failure.name}: ${failure.records.length} stream records discarded.\n`);
  if (onFailure === undefined) return;
  const MessageBody = JSON.stringify(buildFailureMessage(failure));
  await client.send(new SendMessageCommand({ QueueUrl: onFailure, MessageBody }));
}
