import { randomUUID } from 'node:crypto';
import { CreateQueueCommand, DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type QueueServer, startQueueServer } from '../local/queue-server.ts';

type Worker = (event: SQSEvent) => Promise<SQSBatchResponse>;

/** The queues of the service on the local queue server. Their workers run only when a test calls them. */
export interface WorkQueues {
  /** Runs all workers until no message is visible. Throws if a worker fails. */
  drain(): Promise<void>;
  /**
   * Passes visible messages of a queue to its worker, ten by default. Returns their number. Throws if the worker fails.
   */
  handleOnce(name: QueueName, maxMessages?: number): Promise<number>;
  close(): Promise<void>;
}

const workers = {
  notifications: async () => (await import('../functions/workers/process-notification.ts')).handler,
  refreshes: async () => (await import('../functions/workers/refresh-purchase.ts')).handler,
  webhooks: async () => (await import('../functions/workers/send-webhook.ts')).handler,
  forwards: async () => (await import('../functions/workers/send-forward.ts')).handler,
} as const satisfies Record<string, () => Promise<Worker>>;
export type QueueName = keyof typeof workers;
const queueNames = Object.keys(workers) as QueueName[];

/**
 * Starts a queue server, creates the queues and sets the environment in which functions find them. `loadWorker` returns
 * the worker of a queue, by default the handler in this process.
 */
export async function startWorkQueues(
  loadWorker: (name: QueueName) => Promise<Worker> = async (name) => await workers[name](),
): Promise<WorkQueues> {
  const server = await startQueueServer();
  process.env.AWS_ENDPOINT_URL_SQS = server.endpoint;
  const createQueue = async (name: string): Promise<string> => {
    const QueueName = `${name}-${randomUUID()}`;
    const { QueueUrl = '' } = await server.client.send(new CreateQueueCommand({ QueueName }));
    process.env[`${name.toUpperCase()}_QUEUE_URL`] = QueueUrl;
    return QueueUrl;
  };
  const urls = {} as Record<QueueName, string>;
  for (const name of queueNames) urls[name] = await createQueue(name);
  await createQueue('stream_failures');
  const handleOnce = async (name: QueueName, maxMessages = 10) =>
    await handleMessages({ server, url: urls[name], maxMessages }, await loadWorker(name));
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

async function handleMessages(
  { server, url: QueueUrl, maxMessages }: { server: QueueServer; url: string; maxMessages: number },
  worker: Worker,
): Promise<number> {
  const { client } = server;
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: maxMessages }),
  );
  if (Messages.length === 0) return 0;
  const { batchItemFailures } = await worker({ Records: Messages.map(toSqsRecord) });
  if (batchItemFailures.length > 0) throw new Error(`The worker failed for ${batchItemFailures.length} messages.`);
  for (const { ReceiptHandle } of Messages) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.length;
}

/** Fills the fields that workers read. */
const toSqsRecord = ({ MessageId, ReceiptHandle, Body }: Message): SQSRecord =>
  ({ messageId: MessageId, receiptHandle: ReceiptHandle, body: Body }) as Partial<SQSRecord> as SQSRecord;
