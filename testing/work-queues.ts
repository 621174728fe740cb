import { randomUUID } from 'node:crypto';
import { CreateQueueCommand, DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type QueueServer, startQueueServer } from '../local/queue-server.ts';

type Worker = (event: SQSEvent) => Promise<SQSBatchResponse>;

/** The queues of the service on the real queue server, and workers that work them off when told. */
export interface WorkQueues {
  /** Works all queues off until nothing is left to be seen; what fails is thrown. */
  drain(): Promise<void>;
  /** Gives the next messages of a queue to its worker once, and gives them back when it does not take them. */
  handleOnce(name: QueueName): Promise<number>;
  close(): Promise<void>;
}

const workers = {
  notifications: async () => (await import('../functions/workers/process-notification.ts')).handler,
  refreshes: async () => (await import('../functions/workers/refresh-purchase.ts')).handler,
  webhooks: async () => (await import('../functions/workers/send-webhook.ts')).handler,
} as const satisfies Record<string, () => Promise<Worker>>;
type QueueName = keyof typeof workers;

/** Starts the queue server, makes the queues and tells the functions where they are. */
export async function startWorkQueues(): Promise<WorkQueues> {
  const server = await startQueueServer();
  process.env.AWS_ENDPOINT_URL_SQS = server.endpoint;
  const urls = {} as Record<QueueName, string>;
  for (const name of Object.keys(workers) as QueueName[]) {
    const { QueueUrl = '' } = await server.client.send(
      new CreateQueueCommand({ QueueName: `${name}-${randomUUID()}` }),
    );
    urls[name] = QueueUrl;
    process.env[`${name.toUpperCase()}_QUEUE_URL`] = QueueUrl;
  }
  const handleOnce = async (name: QueueName) => await work(server, urls[name], await workers[name]());
  return {
    handleOnce,
    async drain() {
      while (
        (await handleOnce('notifications')) + (await handleOnce('refreshes')) + (await handleOnce('webhooks')) >
        0
      );
    },
    close: async () => await server.close(),
  };
}

async function work({ client }: QueueServer, QueueUrl: string, worker: Worker): Promise<number> {
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  if (Messages.length === 0) return 0;
  const { batchItemFailures } = await worker({ Records: Messages.map(toSqsRecord) } as SQSEvent);
  if (batchItemFailures.length > 0) throw new Error(`The worker gave ${batchItemFailures.length} messages back.`);
  for (const { ReceiptHandle } of Messages) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.length;
}

const toSqsRecord = ({ MessageId, ReceiptHandle, Body }: Message) => ({
  messageId: MessageId,
  receiptHandle: ReceiptHandle,
  body: Body,
});
