import { type AwsClientOptions, awsClientOptions } from './connections.ts';
import { clientOptions } from './container.ts';
import { ServiceError } from './errors.ts';
import { once } from './once.ts';
import type { Service } from './service.ts';

const attributes = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;

/**
 * Counts the waiting and the received messages of a queue: both need the operator. The SDK client is loaded with the
 * first call. Throws `ConnectionFailed` if SQS fails.
 */
export async function countMessages(QueueUrl: string, options: AwsClientOptions = awsClientOptions): Promise<number> {
  const { GetQueueAttributesCommand, SQSClient } = await import('@aws-sdk/client-sqs');
  // Queue URLs of a local service only identify the queue.
  const { Attributes } = await new SQSClient({ ...options, useQueueUrlAsEndpoint: false })
    .send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...attributes] }))
    .catch((cause: unknown) => {
      throw new ServiceError('ConnectionFailed', 'The queue is unavailable. Try again later.', { cause });
    });
  return attributes.reduce((sum, name) => sum + Number(Attributes?.[name] ?? 0), 0);
}

/**
 * Adds the count of the messages about stream records that a worker could not process, if the environment names their
 * queue. It is of all apps, so it is read once.
 */
export function addStreamFailureCount(service: Service): Service {
  const { STREAM_FAILURES_QUEUE_URL: url } = process.env;
  if (!url) return service;
  const options = clientOptions();
  return { ...service, countStreamFailures: once(async () => await countMessages(url, options)) };
}
