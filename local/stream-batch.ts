import { randomUUID } from 'node:crypto';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import type { LocalFunction } from './local-function.ts';
import { sleep } from './sleep.ts';
import { buildFailureMessage, type StreamFailure } from './stream-failure.ts';

/** A stream record as Lambda's events carry it. */
export interface StreamRecord {
  readonly eventSourceARN: string;
  readonly dynamodb: {
    readonly SequenceNumber: string;
    /** In seconds. */
    readonly ApproximateCreationDateTime?: number;
    readonly [member: string]: unknown;
  };
  readonly [member: string]: unknown;
}

/** Where batches go, and what becomes of those that fail. */
export interface StreamConsumer {
  readonly handler: LocalFunction;
  /** The function's name. */
  readonly name: string;
  readonly shardId: string;
  readonly bisectOnError: boolean;
  readonly maxRetries: number;
  /** Records that fail are given up once they are older. */
  readonly maxRecordAgeMs?: number;
  /** The URL of the queue that is told of records that were given up. */
  readonly onFailure?: string;
  readonly client: SQSClient;
  readonly signal: AbortSignal;
  readonly log: (text: string) => void;
}

/** What a batch's event carries beside its records. */
export type GetWindow = () => Readonly<Record<string, unknown>>;

const BatchResponse = v.nullable(
  v.looseObject({ batchItemFailures: v.optional(v.array(v.object({ itemIdentifier: v.string() })), []) }),
);

/**
 * Hands records to the function until it has taken them all, in order: from the first that it gives back, in halves when it
 * fails, and to the queue for failures after the last retry or once they are too old. The answer is what the function answered last.
 */
export async function deliverRecords(
  records: readonly StreamRecord[],
  window: GetWindow,
  options: StreamConsumer,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  let rest = records;
  let attempt = 0;
  while (rest.length > 0 && !options.signal.aborted) {
    const ending = await options.handler.invoke(JSON.stringify({ Records: rest, ...window() }));
    const response = 'result' in ending ? v.safeParse(BatchResponse, JSON.parse(ending.result)) : undefined;
    const left = response?.success ? takeFromFirstFailure(rest, response.output?.batchItemFailures ?? []) : rest;
    if (left.length === 0) return (response?.output ?? undefined) as Readonly<Record<string, unknown>> | undefined;
    if ('error' in ending) options.log(`${ending.error}\n`);
    if (left.length < rest.length) attempt = 0;
    rest = left;
    attempt++;
    if (options.bisectOnError && rest.length > 1 && !response?.success)
      return await deliverHalves(rest, window, options);
    const discarded = attempt > options.maxRetries ? rest : findExpiredRecords(rest, options);
    if (discarded.length > 0) {
      const { requestId = randomUUID() } = ending;
      const { shardId, name } = options;
      const isError = !response?.success;
      await sendToFailureQueue(
        { records: discarded, shardId, name, requestId, invocations: attempt, isError },
        options,
      );
      rest = rest.slice(discarded.length);
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

/** From the first record that the function gives back; Lambda does not look at which of the later ones it took. */
function takeFromFirstFailure(
  records: readonly StreamRecord[],
  failures: readonly { readonly itemIdentifier: string }[],
): readonly StreamRecord[] {
  const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
  const first = records.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber));
  return first === -1 ? [] : records.slice(first);
}

/** The first of the records, which are the oldest. */
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
  log(`${failure.name} gives ${failure.records.length} records of the stream up.\n`);
  if (onFailure === undefined) return;
  const MessageBody = JSON.stringify(buildFailureMessage(failure));
  await client.send(new SendMessageCommand({ QueueUrl: onFailure, MessageBody }));
}
