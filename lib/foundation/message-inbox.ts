import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import { ServiceError } from './errors.ts';
import type { MessageInbox, ReceivedMessage } from './message-queue.ts';
import type { AwsClientOptions } from './outgoing/aws-client.ts';

const maxMessages = 10_000;
const visibilitySeconds = 300;
const concurrency = 10;

/** A poll can return nothing although there are messages, because SQS polls some of its servers. */
const maxEmptyPolls = 2;

/** Creates a reader of a queue for the operator. Throws `ConnectionFailed` if SQS fails. */
export function createMessageInbox(url: () => string, clientOptions: AwsClientOptions = {}): MessageInbox {
  const client = new SQSClient({ ...clientOptions, useQueueUrlAsEndpoint: false });
  return {
    async receiveAll() {
      const received = new Map<string, ReceivedMessage>();
      for (let emptyPolls = 0; emptyPolls < maxEmptyPolls && received.size < maxMessages; ) {
        const { Messages = [] } = await client
          .send(
            new ReceiveMessageCommand({
              QueueUrl: url(),
              MaxNumberOfMessages: 10,
              VisibilityTimeout: visibilitySeconds,
              WaitTimeSeconds: 1,
            }),
          )
          .catch(throwUnavailable);
        emptyPolls = Messages.length === 0 ? emptyPolls + 1 : 0;
        for (const { MessageId = '', Body = '', ReceiptHandle = '' } of Messages)
          received.set(MessageId, { body: Body, handle: ReceiptHandle });
      }
      return [...received.values()];
    },
    release: async (messages) =>
      await forEach(messages, async ({ handle: ReceiptHandle }) => {
        const command = { QueueUrl: url(), ReceiptHandle, VisibilityTimeout: 0 };
        await client.send(new ChangeMessageVisibilityCommand(command)).catch(throwUnavailable);
      }),
    delete: async (messages) =>
      await forEach(messages, async ({ handle: ReceiptHandle }) => {
        await client.send(new DeleteMessageCommand({ QueueUrl: url(), ReceiptHandle })).catch(throwUnavailable);
      }),
  };
}

const forEach = async (
  messages: readonly ReceivedMessage[],
  run: (message: ReceivedMessage) => Promise<void>,
): Promise<void> => void (await pMap(messages, run, { concurrency }));

function throwUnavailable(cause: unknown): never {
  throw new ServiceError('ConnectionFailed', 'The queue is unavailable. Try again later.', { cause });
}
