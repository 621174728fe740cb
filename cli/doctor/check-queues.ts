import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { awsClientOptions } from '../../lib/foundation/connections.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';

/** Queue URLs of a local service only identify the queue. */
const createClient = (): SQSClient => new SQSClient({ ...awsClientOptions, useQueueUrlAsEndpoint: false });

/** Counts the waiting and the received messages. Both need the operator. */
async function countMessages(client: SQSClient, QueueUrl: string): Promise<number> {
  const { Attributes: attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return (
    Number(attributes.ApproximateNumberOfMessages ?? 0) + Number(attributes.ApproximateNumberOfMessagesNotVisible ?? 0)
  );
}

const impacts: Readonly<Record<string, string>> = {
  notifications:
    'store notifications failed for six hours, so customers may lack paid access, or keep access after a refund',
  refreshes: 'refreshes failed for half an hour, so apps see stale entitlements',
  forwards: 'forwards failed for a day because of an internal error, so other servers miss store notifications',
  webhooks: 'webhooks failed for a day because of an internal error, so app servers miss changes',
};

/** Finds messages in a dead-letter queue. `queue` is the name of the work queue. */
export async function checkDeadLetters(queue: string, url: string): Promise<readonly Finding[]> {
  const count = await countMessages(createClient(), url);
  if (count === 0) return [];
  return [
    createFinding('dead-letters', {
      problem: `The dead-letter queue of ${queue} contains ${count} messages: ${impacts[queue] ?? 'their processing failed'}.`,
      cure: 'Find the cause in the log of the worker and correct it. Then redrive the queue with `aws sqs start-message-move-task`, see Redrive in docs/operating/diagnose.md.',
    }),
  ];
}

/** Finds messages about stream records that were discarded. */
export async function checkStreamFailures(url: string): Promise<readonly Finding[]> {
  const count = await countMessages(createClient(), url);
  if (count === 0) return [];
  return [
    createFinding('stream-records-discarded', {
      problem: `Stream records could not be processed (${count} messages), so webhooks or statistics are missing.`,
      cure: 'Run `webhooks stream-failures list` and correct the named items. Then run `webhooks stream-failures replay`.',
    }),
  ];
}
