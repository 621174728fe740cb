import { randomUUID } from 'node:crypto';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { ServiceError } from '../shared/errors.ts';

interface SendOptions {
  /** Seconds before a worker sees the messages; at most 900. */
  readonly delaySeconds?: number;
  /** Whose messages these are: one sender's backlog must not delay the others'. */
  readonly group?: string;
}

/** Messages on their way to a worker. */
export interface MessageQueue<T> {
  /** Throws `ConnectionFailed` when one of them could not be sent; some may be under way then. */
  send(messages: readonly T[], sending?: SendOptions): Promise<void>;
}

const maxBatchSize = 10;
const maxBatchBytes = 256_000;

/** The queue behind an URL. The client is loaded at the first message: most requests send none. */
export function createMessageQueue<T extends object>(url: () => string): MessageQueue<T> {
  let client: Promise<SQSClient> | undefined;
  return {
    async send(messages, sending = {}) {
      if (messages.length === 0) return;
      client ??= import('@aws-sdk/client-sqs').then(({ SQSClient }) => new SQSClient({ useQueueUrlAsEndpoint: false }));
      const [sqs, { SendMessageBatchCommand }] = await Promise.all([client, import('@aws-sdk/client-sqs')]);
      for (const bodies of splitIntoBatches(messages.map((message) => JSON.stringify(message)))) {
        const response = await sqs
          .send(new SendMessageBatchCommand({ QueueUrl: url(), Entries: bodies.map((body) => toEntry(body, sending)) }))
          .catch(throwNotSent);
        if (response.Failed?.length) throwNotSent(response.Failed);
      }
    },
  };
}

const toEntry = (MessageBody: string, { delaySeconds, group }: SendOptions) => ({
  Id: randomUUID(),
  MessageBody,
  ...(delaySeconds && { DelaySeconds: Math.min(900, Math.ceil(delaySeconds)) }),
  ...(group && { MessageGroupId: group }),
});

/** At most ten messages and 256 KB in one call. */
function splitIntoBatches(bodies: readonly string[]): string[][] {
  const filled: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const body of bodies) {
    const bytes = Buffer.byteLength(body);
    const current = filled.at(-1);
    if (current && current.length < maxBatchSize && size + bytes <= maxBatchBytes) {
      current.push(body);
      size += bytes;
    } else {
      filled.push([body]);
      size = bytes;
    }
  }
  return filled;
}

function throwNotSent(cause: unknown): never {
  throw new ServiceError('ConnectionFailed', 'The queue did not take a message.', { cause });
}
