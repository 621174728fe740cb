import { once } from './cache.ts';
import { clientOptions } from './container.ts';
import { ServiceError } from './errors.ts';
import { type AwsClientOptions, awsClientOptions } from './outgoing/aws-client.ts';
import { perContainer, type Service } from './service.ts';

const attributes = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;

/**
 * Returns a function that counts the waiting and the received messages of a queue: both need the operator. It loads the
 * SDK client with its first call, and throws `ConnectionFailed` if SQS fails.
 */
export function createMessageCounter(options: AwsClientOptions = awsClientOptions) {
  const load = once(async () => {
    const { GetQueueAttributesCommand, SQSClient } = await import('@aws-sdk/client-sqs');
    // Queue URLs of a local service only identify the queue.
    const client = new SQSClient({ ...options, useQueueUrlAsEndpoint: false });
    return async (QueueUrl: string) =>
      await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...attributes] }));
  });
  return async (url: string): Promise<number> => {
    const getAttributes = await load();
    const { Attributes } = await getAttributes(url).catch((cause: unknown) => {
      throw new ServiceError('ConnectionFailed', 'The queue is unavailable. Try again later.', { cause });
    });
    return attributes.reduce((sum, name) => sum + Number(Attributes?.[name] ?? 0), 0);
  };
}

const findCounter = perContainer(() => createMessageCounter(clientOptions()));

/**
 * Adds the count of the messages about stream records that a worker could not process, if the URL of their queue is
 * known. It is of all apps, so it is read once.
 */
export function addStreamFailureCount(service: Service, url: string | undefined): Service {
  if (!url) return service;
  return { ...service, countStreamFailures: once(async () => await findCounter(service)(url)) };
}
