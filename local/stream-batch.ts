import { randomUUID } from 'node:crypto';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import type { LocalFunction } from './local-function.ts';
import { sleep } from './sleep.ts';
import { failureMessage, type StreamFailure } from './stream-failure.ts';

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
export interface StreamWork {
  readonly work: LocalFunction;
  /** The function's name. */
  readonly name: string;
  readonly shardId: string;
  readonly bisects: boolean;
  readonly retries: number;
  /** Records that fail are given up once they are older. */
  readonly mostAgeMs?: number;
  /** The URL of the queue that is told of records that were given up. */
  readonly onFailure?: string;
  readonly client: SQSClient;
  readonly signal: AbortSignal;
  readonly log: (text: string) => void;
}

/** What a batch's event carries beside its records. */
export type WindowOf = () => Readonly<Record<string, unknown>>;

const Answer = v.nullable(
  v.looseObject({ batchItemFailures: v.optional(v.array(v.object({ itemIdentifier: v.string() })), []) }),
);

/**
 * Hands records to the function until it has taken them all, in order: from the first that it gives back, in halves when it
 * fails, and to the queue for failures after the last retry or once they are too old. The answer is what the function answered last.
 */
export async function deliver(
  records: readonly StreamRecord[],
  window: WindowOf,
  options: StreamWork,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  let rest = records;
  let attempt = 0;
  while (rest.length > 0 && !options.signal.aborted) {
    const ending = await options.work.invoke(JSON.stringify({ Records: rest, ...window() }));
    const answer = 'result' in ending ? v.safeParse(Answer, JSON.parse(ending.result)) : undefined;
    const left = answer?.success ? leftOf(rest, answer.output?.batchItemFailures ?? []) : rest;
    if (left.length === 0) return (answer?.output ?? undefined) as Readonly<Record<string, unknown>> | undefined;
    if ('error' in ending) options.log(`${ending.error}\n`);
    if (left.length < rest.length) attempt = 0;
    rest = left;
    attempt++;
    if (options.bisects && rest.length > 1 && !answer?.success) return await deliverHalves(rest, window, options);
    const lost = attempt > options.retries ? rest : tooOld(rest, options);
    if (lost.length > 0) {
      const { requestId = randomUUID() } = ending;
      const { shardId, name } = options;
      const isError = !answer?.success;
      await giveUp({ records: lost, shardId, name, requestId, invocations: attempt, isError }, options);
      rest = rest.slice(lost.length);
      attempt = 0;
      continue;
    }
    await sleep(Math.min(5_000, 100 * 2 ** attempt), options.signal);
  }
  return undefined;
}

async function deliverHalves(records: readonly StreamRecord[], window: WindowOf, options: StreamWork) {
  const middle = Math.ceil(records.length / 2);
  await deliver(records.slice(0, middle), window, options);
  return await deliver(records.slice(middle), window, options);
}

/** From the first record that the function gives back; Lambda does not look at which of the later ones it took. */
function leftOf(
  records: readonly StreamRecord[],
  failures: readonly { readonly itemIdentifier: string }[],
): readonly StreamRecord[] {
  const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
  const first = records.findIndex(({ dynamodb }) => failed.has(dynamodb.SequenceNumber));
  return first === -1 ? [] : records.slice(first);
}

/** The first of the records, which are the oldest. */
function tooOld(records: readonly StreamRecord[], { mostAgeMs }: StreamWork): readonly StreamRecord[] {
  if (mostAgeMs === undefined) return [];
  const oldest = Date.now() - mostAgeMs;
  const isYoung = ({ dynamodb }: StreamRecord) => (dynamodb.ApproximateCreationDateTime ?? 0) * 1_000 > oldest;
  const young = records.findIndex(isYoung);
  return young === -1 ? records : records.slice(0, young);
}

async function giveUp(failure: StreamFailure, { onFailure, client, log }: StreamWork): Promise<void> {
  log(`${failure.name} gives ${failure.records.length} records of the stream up.\n`);
  if (onFailure === undefined) return;
  const MessageBody = JSON.stringify(failureMessage(failure));
  await client.send(new SendMessageCommand({ QueueUrl: onFailure, MessageBody }));
}
