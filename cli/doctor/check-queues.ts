import { createMessageCounter } from '../../lib/foundation/count-messages.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';
import { streamFailuresCure } from '../../lib/problems/list-problems.ts';

const countMessages = createMessageCounter();

const impacts: Readonly<Record<string, string>> = {
  notifications:
    'store notifications failed for six hours, so customers may lack paid access, or keep access after a refund',
  refreshes: 'refreshes failed for half an hour, so apps see stale entitlements',
  forwards: 'forwards failed for a day because of an internal error, so other servers miss store notifications',
  webhooks: 'webhooks failed for a day because of an internal error, so app servers miss changes',
};

/** Finds messages in a dead-letter queue. `queue` is the name of the work queue. */
export async function checkDeadLetters(queue: string, url: string): Promise<readonly Finding[]> {
  const count = await countMessages(url);
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
  const count = await countMessages(url);
  if (count === 0) return [];
  return [
    createFinding('stream-records-discarded', {
      problem: `Stream records could not be processed (${count} messages), so webhooks or statistics are missing.`,
      cure: streamFailuresCure,
    }),
  ];
}
