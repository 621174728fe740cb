import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import type { Closable } from './lifetimes.ts';
import type { LocalFunction } from './local-function.ts';
import { region } from './local-names.ts';

/** A queue that a function works off. */
export interface QueueSource {
  readonly url: string;
  readonly arn: string;
  readonly batchSize: number;
  readonly work: LocalFunction;
  readonly client: SQSClient;
  readonly log: (text: string) => void;
}

/** Batches that are handled at the same time. */
const pollers = 8;

/**
 * What was not handled is shown again after this long, not after the queue's own time: who waits here is a person or a
 * test. The count of its receptions, and so the way to the dead letters, is the queue's.
 */
const againAfterSeconds = 1;

const Answer = v.object({
  batchItemFailures: v.optional(v.array(v.object({ itemIdentifier: v.string() })), []),
});

/** Works the queue off until it is closed, as Lambda's event source mapping does. */
export function workOffQueue(source: QueueSource): Closable {
  const ending = new AbortController();
  const polling = Array.from({ length: pollers }, async () => {
    while (!ending.signal.aborted) await poll(source, ending.signal);
  });
  return {
    close: async () => {
      ending.abort();
      await Promise.all(polling);
    },
  };
}

async function poll(source: QueueSource, signal: AbortSignal): Promise<void> {
  try {
    const messages = await receive(source, signal);
    if (messages.length > 0) await handle(source, messages);
  } catch (thrown) {
    if (signal.aborted) return;
    source.log(`${thrown instanceof Error ? thrown.stack : thrown}\n`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function receive({ client, url, batchSize }: QueueSource, abortSignal: AbortSignal): Promise<Message[]> {
  const receiving = new ReceiveMessageCommand({
    QueueUrl: url,
    MaxNumberOfMessages: Math.min(10, batchSize),
    WaitTimeSeconds: 20,
    MessageSystemAttributeNames: ['All'],
  });
  const { Messages = [] } = await client.send(receiving, { abortSignal });
  return Messages;
}

async function handle({ client, url, arn, work, log }: QueueSource, messages: readonly Message[]): Promise<void> {
  const ending = await work.invoke(JSON.stringify({ Records: messages.map((message) => recordOf(message, arn)) }));
  if ('error' in ending) log(`${ending.error}\n`);
  const failed = 'result' in ending ? failedIn(ending.result) : undefined;
  const isDone = ({ MessageId = '' }: Message): boolean => failed !== undefined && !failed.has(MessageId);
  const entries = (some: readonly Message[]) =>
    some.map(({ ReceiptHandle = '' }) => ({ Id: randomUUID(), ReceiptHandle }));
  const done = entries(messages.filter(isDone));
  const again = entries(messages.filter((message) => !isDone(message)));
  if (done.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries: done }));
  if (again.length === 0) return;
  const Entries = again.map((entry) => ({ ...entry, VisibilityTimeout: againAfterSeconds }));
  await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
}

/** The ids that the function gives back; undefined, like a failure of the whole batch, for an answer of another form. */
function failedIn(result: string): ReadonlySet<string> | undefined {
  const answer = v.safeParse(v.union([v.null(), Answer]), JSON.parse(result));
  if (!answer.success) return undefined;
  return new Set((answer.output?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
}

const recordOf = ({ MessageId, ReceiptHandle, Body, MD5OfBody, Attributes }: Message, eventSourceARN: string) => ({
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
