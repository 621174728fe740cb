import { randomUUID } from 'node:crypto';
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

/** A queue that a function works off. */
export interface QueueSource {
  readonly url: string;
  readonly arn: string;
  readonly batchSize: number;
  readonly work: LocalFunction;
  readonly client: SQSClient;
  readonly clock: SharedClock;
  readonly log: (text: string) => void;
}

/** Batches that are handled at the same time. */
const concurrency = 8;

const pollIntervalMs = 200;

const BatchResponse = v.object({
  batchItemFailures: v.optional(v.array(v.object({ itemIdentifier: v.string() })), []),
});

interface PollingState extends QueueSource {
  /** How long the queue hides a message that was received. */
  readonly hiddenMs: number;
  readonly signal: AbortSignal;
}

/** Works the queue off until it is closed, as Lambda's event source mapping does. */
export async function pollQueue(source: QueueSource): Promise<Closable> {
  const ending = new AbortController();
  const polled = { ...source, hiddenMs: await fetchVisibilityTimeoutMs(source), signal: ending.signal };
  const polling = Array.from({ length: concurrency }, async () => {
    while (!ending.signal.aborted) await poll(polled);
  });
  return {
    close: async () => {
      ending.abort();
      await Promise.all(polling);
    },
  };
}

async function fetchVisibilityTimeoutMs({ client, url }: QueueSource): Promise<number> {
  const context = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['VisibilityTimeout'] });
  const { Attributes } = await client.send(context);
  return Number(Attributes?.VisibilityTimeout) * 1_000;
}

async function poll(polling: PollingState): Promise<void> {
  const { clock, hiddenMs: visibilityTimeoutMs, signal, log } = polling;
  try {
    const messages = await receive(polling);
    if (messages.length === 0) return;
    const visibleAt = clock.now() + visibilityTimeoutMs;
    const again = await handle(polling, messages);
    if (again.length > 0) void makeVisible(again, visibleAt, polling);
  } catch (error) {
    if (signal.aborted) return;
    log(`${error instanceof Error ? error.stack : error}\n`);
    await sleep(1_000, signal);
  }
}

async function receive({ client, url, batchSize, signal: abortSignal }: PollingState): Promise<Message[]> {
  const receiving = new ReceiveMessageCommand({
    QueueUrl: url,
    MaxNumberOfMessages: Math.min(10, batchSize),
    WaitTimeSeconds: 20,
    MessageSystemAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(receiving, { abortSignal });
  return Messages;
}

/** Has the function handle messages, and returns those that it did not take. */
async function handle(
  { client, url, arn, work: handler, log }: QueueSource,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  const ending = await handler.invoke(
    JSON.stringify({ Records: messages.map((message) => toSqsRecord(message, arn)) }),
  );
  if ('error' in ending) log(`${ending.error}\n`);
  const failed = 'result' in ending ? parseFailedIds(ending.result) : undefined;
  const isDone = ({ MessageId = '' }: Message): boolean => failed !== undefined && !failed.has(MessageId);
  const Entries = entries(messages.filter(isDone));
  if (Entries.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  return messages.filter((message) => !isDone(message));
}

const entries = (messages: readonly Message[]) =>
  messages.map(({ ReceiptHandle = '' }) => ({ Id: randomUUID(), ReceiptHandle }));

/** The queue hides messages for real time; where the clock is moved past that time, they are shown at once. */
async function makeVisible(messages: readonly Message[], visibleAt: number, polling: PollingState): Promise<void> {
  const { client, url, clock, signal, log } = polling;
  while (clock.now() < visibleAt && !signal.aborted) await sleep(pollIntervalMs, signal);
  const Entries = entries(messages).map((entry) => ({ ...entry, VisibilityTimeout: 0 }));
  try {
    if (!signal.aborted) await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  } catch (error) {
    log(`${error instanceof Error ? error.stack : error}\n`);
  }
}

/** The ids that the function gives back; undefined, like a failure of the whole batch, for an answer of another form. */
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
