import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateQueueCommand, GetQueueAttributesCommand, type QueueAttributeName, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import * as v from 'valibot';
import { projectFolder } from '../infra/project-folder.ts';
import { findFreePort } from './free-port.ts';
import type { TemplateNames } from './intrinsics.ts';
import { account, region } from './local-names.ts';
import { listResources, type Template } from './template.ts';

const Queue = v.object({
  VisibilityTimeout: v.optional(v.number(), 30),
  RedrivePolicy: v.optional(v.object({ deadLetterTargetArn: v.string(), maxReceiveCount: v.number() })),
});

/** Number of messages by queue name of the template. */
export type MessageCounts = Readonly<Record<string, number>>;

/** A server with the SQS protocol. Messages are in memory only, and delays use real time. */
export interface QueueServer {
  readonly endpoint: string;
  readonly client: SQSClient;
  /** Builds the queue URL that clients send. */
  readonly getUrl: (name: string) => string;
  createQueues(template: Template, names: TemplateNames): Promise<void>;
  /** Counts waiting, delayed and in-flight messages of each queue that has any, dead-letter queues included. */
  countMessages(): Promise<MessageCounts>;
  close(): Promise<void>;
}

/**
 * Interval in which a queue with a waiting request checks delayed messages and visibility timeouts, which are whole
 * seconds. A new message does not wait for it.
 */
const timerIntervalMs = 200;

interface ServerQueue {
  pollTimer?: NodeJS.Timeout;
  processTimers(): void;
  startPollTimerIfNeeded(): void;
}

/** Replaces the interval of the server, 20 ms, which takes half a percent of a core. The package does not export it. */
async function extendTimerInterval(): Promise<void> {
  const file = join(projectFolder, 'node_modules', 'fauxqs', 'dist', 'sqs', 'sqsStore.js');
  const { SqsQueue } = (await import(pathToFileURL(file).href)) as { SqsQueue: { prototype: ServerQueue } };
  SqsQueue.prototype.startPollTimerIfNeeded = function startPollTimer() {
    this.pollTimer ??= setInterval(() => this.processTimers(), timerIntervalMs);
  };
}

export async function startQueueServer(): Promise<QueueServer> {
  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  await extendTimerInterval();
  const server = buildApp({ logger: false, defaultRegion: region });
  await server.listen({ port, host: '127.0.0.1' });
  const client = new SQSClient({
    endpoint,
    region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  // Only an identifier: clients connect to the endpoint and not to this host.
  const getUrl = (name: string) => `http://sqs.${region}.localhost:${port}/${account}/${name}`;
  const queueNames = new Map<string, string>();
  return {
    endpoint,
    client,
    getUrl,
    createQueues: async (template, names) => {
      const queues = listResources(template, 'AWS::SQS::Queue', { properties: Queue, names });
      for (const [id, { VisibilityTimeout, RedrivePolicy }] of queues) {
        const QueueName = names.attribute(id, 'QueueName');
        const Attributes = {
          VisibilityTimeout: String(VisibilityTimeout),
          ...(RedrivePolicy && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
        };
        await client.send(new CreateQueueCommand({ QueueName, Attributes }));
        queueNames.set(id, QueueName);
      }
    },
    countMessages: async () => {
      const counted = [...queueNames].map(
        async ([id, name]) => [toDisplayName(id), await fetchCount(client, getUrl(name))] as const,
      );
      return Object.fromEntries((await Promise.all(counted)).filter(([, count]) => count > 0));
    },
    close: async () => {
      client.destroy();
      await server.close();
    },
  };
}

/** Converts a logical id to the queue's name: removes the construct prefix and the hash suffix. */
const toDisplayName = (id: string): string =>
  id.replace(/^Queues(.+?)(dead)?[0-9A-F]{8}$/, (_id, name: string, dead?: string) =>
    dead ? `${name} (dead letters)` : name,
  );

const counts: readonly QueueAttributeName[] = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesDelayed',
  'ApproximateNumberOfMessagesNotVisible',
];

async function fetchCount(client: SQSClient, QueueUrl: string): Promise<number> {
  const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...counts] }));
  return counts.reduce((sum, name) => sum + Number(Attributes?.[name] ?? 0), 0);
}
