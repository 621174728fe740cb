import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import type { LocalFunction } from './local-function.ts';
import { region } from './local-names.ts';
import type { SharedClock } from './shared-clock.ts';
import type { Closable } from './shutdown.ts';
import { sleep } from './sleep.ts';

export interface QueueSource {
  readonly url: string;
  readonly arn: string;
  readonly batchSize: number;
  readonly handler: LocalFunction;
  readonly client: SQSClient;
  readonly clock: SharedClock;
  readonly log: (text: string) => void;
}

const concurrency = 8;

const BatchResponse = v.object({
  batchItemFailures: v.optional(v.array(v.object({ itemIdentifier: v.string() })), []),
});

interface PollingState extends QueueSource {
  readonly visibilityTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Waits for messages. One request waits at a time: each one takes processor time while the queue is empty. */
  readonly receiveInTurn: () => Promise<readonly Message[]>;
}

/** Consumes the queue until it is closed, like a Lambda event source mapping. */
export async function pollQueue(source: QueueSource): Promise<Closable> {
  const closing = new AbortController();
  // One for each poll and for each batch that waits for its visibility timeout.
  setMaxListeners(0, closing.signal);
  let lastTurn: Promise<unknown> = Promise.resolve();
  const receiveInTurn = async (): Promise<readonly Message[]> => {
    const turn = lastTurn.then(async () => await receive(source, closing.signal));
    lastTurn = turn.catch(() => {});
    return await turn;
  };
  const visibilityTimeoutMs = await fetchVisibilityTimeoutMs(source);
  const state: PollingState = { ...source, visibilityTimeoutMs, signal: closing.signal, receiveInTurn };
  const polling = Array.from({ length: concurrency }, async () => {
    while (!closing.signal.aborted) await poll(state);
  });
  return {
    close: async () => {
      closing.abort();
      await Promise.all(polling);
    },
  };
}

async function fetchVisibilityTimeoutMs({ client, url }: QueueSource): Promise<number> {
  const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['VisibilityTimeout'] });
  const { Attributes } = await client.send(command);
  return Number(Attributes?.VisibilityTimeout) * 1_000;
}

async function poll(state: PollingState): Promise<void> {
  const { clock, visibilityTimeoutMs, signal, receiveInTurn, log } = state;
  try {
    const messages = await receiveInTurn();
    if (messages.length === 0) return;
    const visibleAt = clock.now() + visibilityTimeoutMs;
    const failed = await handle(state, messages);
    if (failed.length > 0) void makeVisible(failed, visibleAt, state);
  } catch (error) {
    if (signal.aborted) return;
    log(`${error instanceof Error ? error.stack : error}\n`);
    await sleep(1_000, signal);
  }
}

async function receive({ client, url, batchSize }: QueueSource, abortSignal: AbortSignal): Promise<Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl: url,
    MaxNumberOfMessages: Math.min(10, batchSize),
    WaitTimeSeconds: 20,
    MessageSystemAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(command, { abortSignal });
  return Messages;
}

/** Invokes the function with messages and returns the failed ones. */
async function handle(
  { client, url, arn, handler, log }: QueueSource,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  const invocation = await handler.invoke(
    JSON.stringify({ Records: messages.map((message) => toSqsRecord(message, arn)) }),
  );
  if ('error' in invocation) log(`${invocation.error}\n`);
  const failed = 'result' in invocation ? parseFailedIds(invocation.result) : undefined;
  const isDone = ({ MessageId = '' }: Message): boolean => failed !== undefined && !failed.has(MessageId);
  const Entries = toEntries(messages.filter(isDone));
  if (Entries.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  return messages.filter((message) => !isDone(message));
}

const toEntries = (messages: readonly Message[]) =>
  messages.map(({ ReceiptHandle = '' }) => ({ Id: randomUUID(), ReceiptHandle }));

/** Makes messages visible when the clock passes their visibility timeout. The queue server itself uses real time. */
async function makeVisible(messages: readonly Message[], visibleAt: number, state: PollingState): Promise<void> {
  const { client, url, clock, signal, log } = state;
  await clock.waitUntil(visibleAt, signal);
  const Entries = toEntries(messages).map((entry) => ({ ...entry, VisibilityTimeout: 0 }));
  try {
    if (!signal.aborted) await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  } catch (error) {
    log(`${error instanceof Error ? error.stack : error}\n`);
  }
}

/** Parses the ids in `batchItemFailures`. Returns undefined for another result, which fails the whole batch. */
function parseFailedIds(result: string): ReadonlySet<string> | undefined {
  const response = v.safeParse(v.union([v.null(), BatchResponse]), JSON.parse(result));
  if (!response.success) return undefined;
  return new Set((response.output?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
}

const toSqsRecord = ({ MessageId, ReceiptHandle, Body, MD5OfBody, Attributes }: Message, eventSourceARN: string) => ({
  messageId: MessageId,
  receiptHandle: ReceiptHandle,
  body: Body,
  attributes: Attributes,
  messageAttributes: {},
  md5OfBody: MD5OfBody,
  eventSource: 'aws:sqs',
  eventSourceARN,
  awsRegion: region,
});
