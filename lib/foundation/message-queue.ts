import { randomUUID } from 'node:crypto';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { ServiceError } from './errors.ts';
import type { AwsClientOptions } from './outgoing/aws-client.ts';

/**
 * Maximum delay of an SQS message.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-timers.html
 */
export const maxQueueDelaySeconds = 900;

interface SendOptions {
  /** Seconds until the messages are visible; at most `maxQueueDelaySeconds`. */
  readonly delaySeconds?: number;
  /** Name of the app, for SQS fair queues: the backlog of one app must not delay the messages of other apps. */
  readonly group?: string;
}

/** A queue of messages for a worker. */
export interface MessageQueue {
  /** Throws `ConnectionFailed` if a message could not be enqueued; other messages can be enqueued nevertheless. */
  send(messages: readonly object[], options?: SendOptions): Promise<void>;
}

export interface ReceivedMessage {
  readonly body: string;
  /** Identifies the message while it is received. */
  readonly handle: string;
}

/** The messages of a queue without a worker. */
export interface MessageInbox {
  /** Receives all visible messages, at most 10,000, which are invisible for five minutes. */
  receiveAll(): Promise<ReceivedMessage[]>;
  /** Makes received messages visible again. */
  release(messages: readonly ReceivedMessage[]): Promise<void>;
  delete(messages: readonly ReceivedMessage[]): Promise<void>;
}

/** @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
const maxBatchSize = 10;
const maxBatchBytes = 256_000;

/** Creates a client of the queue. The SDK client is loaded with the first message, because most requests send none. */
export function createMessageQueue(url: () => string, clientOptions: AwsClientOptions = {}): MessageQueue {
  let client: Promise<SQSClient> | undefined;
  return {
    async send(messages, options = {}) {
      if (messages.length === 0) return;
      client ??= import('@aws-sdk/client-sqs').then(
        ({ SQSClient }) => new SQSClient({ ...clientOptions, useQueueUrlAsEndpoint: false }),
      );
      const [sqs, { SendMessageBatchCommand }] = await Promise.all([client, import('@aws-sdk/client-sqs')]);
      const sendBatch = async (bodies: readonly string[]) => {
        const response = await sqs
          .send(new SendMessageBatchCommand({ QueueUrl: url(), Entries: bodies.map((body) => toEntry(body, options)) }))
          .catch(throwNotSent);
        if (response.Failed?.length) throwNotSent(response.Failed);
      };
      const batches = splitIntoBatches(messages.map((message) => JSON.stringify(message)));
      // The client limits the connections, and queues are unordered.
      await Promise.all(batches.map(sendBatch));
    },
  };
}

const toEntry = (MessageBody: string, { delaySeconds, group }: SendOptions) => ({
  Id: randomUUID(),
  MessageBody,
  ...(delaySeconds && { DelaySeconds: Math.min(maxQueueDelaySeconds, Math.ceil(delaySeconds)) }),
  ...(group && { MessageGroupId: group }),
});

/** Splits messages into batches of at most ten messages and 256 KB. */
function splitIntoBatches(bodies: readonly string[]): string[][] {
  const batches: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const body of bodies) {
    const bytes = Buffer.byteLength(body);
    const current = batches.at(-1);
    if (current && current.length < maxBatchSize && size + bytes <= maxBatchBytes) {
      current.push(body);
      size += bytes;
    } else {
      batches.push([body]);
      size = bytes;
    }
  }
  return batches;
}

function throwNotSent(cause: unknown): never {
  throw new ServiceError('ConnectionFailed', 'A message could not be enqueued.', { cause });
}
