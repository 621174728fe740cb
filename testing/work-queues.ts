import { randomUUID } from 'node:crypto';
import { CreateQueueCommand, DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type QueueServer, startQueueServer } from '../local/queue-server.ts';

type Worker = (event: SQSEvent) => Promise<SQSBatchResponse>;

/** The queues of the service on the local queue server. Their workers run only when a test calls them. */
export interface WorkQueues {
  /** Runs all workers until no message is visible. Throws if a worker fails. */
  drain(): Promise<void>;
  /** Passes up to ten visible messages of a queue to its worker. Returns their number. Throws if the worker fails. */
  handleOnce(name: QueueName): Promise<number>;
  close(): Promise<void>;
}

const workers = {
  notifications: async () => (await import('../functions/workers/process-notification.ts')).handler,
  refreshes: async () => (await import('../functions/workers/refresh-purchase.ts')).handler,
  webhooks: async () => (await import('../functions/workers/send-webhook.ts')).handler,
} as const satisfies Record<string, () => Promise<Worker>>;
type QueueName = keyof typeof workers;
const queueNames = Object.keys(workers) as QueueName[];

/** Starts a queue server, creates the queues and sets the environment in which functions find them. */
export async function startWorkQueues(): Promise<WorkQueues> {
  const server = await startQueueServer();
  process.env.AWS_ENDPOINT_URL_SQS = server.endpoint;
  const urls = {} as Record<QueueName, string>;
  for (const name of queueNames) {
    const { QueueUrl = '' } = await server.client.send(
      new CreateQueueCommand({ QueueName: `${name}-${randomUUID()}` }),
    );
    urls[name] = QueueUrl;
    process.env[`${name.toUpperCase()}_QUEUE_URL`] = QueueUrl;
  }
  const handleOnce = async (name: QueueName) => await handleMessages(server, urls[name], await workers[name]());
  return {
    handleOnce,
    async drain() {
      let handledCount: number;
      do {
        handledCount = 0;
        for (const name of queueNames) handledCount += await handleOnce(name);
      } while (handledCount > 0);
    },
    close: async () => await server.close(),
  };
}

async function handleMessages({ client }: QueueServer, QueueUrl: string, worker: Worker): Promise<number> {
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  if (Messages.length === 0) return 0;
  const { batchItemFailures } = await worker({ Records: Messages.map(toSqsRecord) });
  if (batchItemFailures.length > 0) throw new Error(`The worker failed for ${batchItemFailures.length} messages.`);
  for (const { ReceiptHandle } of Messages) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.length;
}

/** Fills the fields that workers read. */
const toSqsRecord = ({ MessageId, ReceiptHandle, Body }: Message): SQSRecord =>
  ({ messageId: MessageId, receiptHandle: ReceiptHandle, body: Body }) as Partial<SQSRecord> as SQSRecord;
